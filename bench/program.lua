-- One of the examples as a contestant:  lgt program.lua FILE ARGUMENTS...
-- A turn is the whole script, its set-up included; what it prints is dropped.
local contest = require "contest"

local file = table.remove(arg, 1)
local script = assert(loadfile(file))
local args = {[0] = file, unpack(arg)}
setfenv(script, setmetatable({arg = args, print = function() end}, {__index = _G}))

contest.serve(script, function() end)
