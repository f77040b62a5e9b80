// Loaded before the service (`node --import`): connections to port 25 of the addresses in WAYBILL_TEST_HOSTS, such as
// "9.9.9.9=41025,9.9.9.10=41026", lead to these ports of this machine. So processes on one machine are mail servers of
// each other, whose addresses are public ones, as direct delivery demands.
import net from "node:net"

const ports = new Map((process.env["WAYBILL_TEST_HOSTS"] ?? "").split(",").map((pair) => pair.split("=")))
const SMTP_PORT = 25
const connect = net.Socket.prototype.connect

net.Socket.prototype.connect = function (...args) {
  const [first] = args
  // `net.connect` passes a list of what it was given; another caller passes it as it is.
  const options = Array.isArray(first) ? first[0] : first
  const port = ports.get(options?.host)
  if (port !== undefined && Number(options.port) === SMTP_PORT)
    Object.assign(options, { host: "127.0.0.1", port: Number(port), lookup: undefined, family: 4 })
  return connect.apply(this, args)
}
