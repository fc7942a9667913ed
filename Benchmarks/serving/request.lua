-- SPDX-License-Identifier: Apache-2.0
-- Sends one request again and again: wrk -s request.lua URL -- BODY_FILE HEADER_LENGTH
function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  wrk.method = "POST"
  wrk.body = file:read("*a")
  file:close()
  if tonumber(arguments[2]) > 0 then
    wrk.headers["Inference-Header-Content-Length"] = arguments[2]
    wrk.headers["Content-Type"] = "application/octet-stream"
  else
    wrk.headers["Content-Type"] = "application/json"
  end
end

local threads = {}
function setup(thread) table.insert(threads, thread) end

function response(status, headers, body)
  if status ~= 200 then failed = (failed or 0) + 1 end
end

function done(summary, latency, requests)
  local failures = 0
  for _, thread in ipairs(threads) do failures = failures + (thread:get("failed") or 0) end
  local errors = summary.errors
  io.write(string.format('{"requests": %d, "microseconds": %d, "p50": %d, "p99": %d, "failed": %d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    failures + errors.connect + errors.read + errors.write + errors.timeout))
end
