-- What luacheck may assume about the Lua files of this project.
std = "luajit"
max_line_length = 120
-- Drivers that run other scripts: they set `arg` for them.
files["tools"] = {globals = {"arg"}}
files["bench"] = {globals = {"arg"}}
-- Declarations without bodies.
files["lib/array/meta/*.lua"] = {ignore = {"211", "212"}}
-- Replaces functions of Lua.
files["src/lua_bindings/lgt/ranks.lua"] = {ignore = {"121", "122"}}
