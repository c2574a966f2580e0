-- lgt/meant.lua - what was probably meant by a name that is nil: np.zeross, np.mgrid.
local complete = require "lgt.complete"
local elsewhere = require "lgt.elsewhere"
local similar = require "lgt.similar"

-- What to tell a person who wrote `path`, a separator and this name, and how many letters differ; nil if nothing is
-- like it, or `scope` has no such path.
---@param path string "np.linalg"
---@param separator string "." or ":"
---@param name string
---@param scope table
---@return string?
---@return integer? differences
return function(path, separator, name, scope)
  if elsewhere[name] and rawequal(complete.look(scope, path), package.loaded.array) then
    return "write " .. elsewhere[name], 0
  end
  local guess, differences = similar(name, complete.members(path, separator, scope))
  if guess then return ("did you mean %s%s%s?"):format(path, separator, guess), differences end
end
