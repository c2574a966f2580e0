-- What luacheck may assume about the Lua files of this project.
std = "luajit"
max_line_length = 120
-- Scripts for lgt: `arg` as luajit sets it.
files["examples"] = {std = "+luajit"}
