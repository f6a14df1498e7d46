-- Tells all clients that this master has entered or left quarantine: they repeat their handshakes. Without the permission to
-- list the clients, they are not told.
local function notify_clients(pattern)
  for _, channel in ipairs(redis.pcall('PUBSUB', 'CHANNELS', pattern)) do
    redis.call('PUBLISH', channel, 'Q')
  end
end

