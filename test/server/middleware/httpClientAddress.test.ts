import * as Network from "@waybill/mail/dns/Network"
import { Result } from "effect"
import { assert, describe, test } from "vitest"
import * as ClientAddress from "../../../apps/server/src/requests/ClientAddress.ts"

const seen = (peer: string | undefined, forwarded: string | undefined, trusted: ReadonlyArray<string>): string =>
  ClientAddress.of(peer, forwarded, Result.getOrThrow(Network.parseAll(trusted)))

describe("the client's address", () => {
  const PROXIES = ["10.0.0.0/8", "fd00::/8"]
  const CASES: ReadonlyArray<
    readonly [what: string, peer: string | undefined, forwarded: string | undefined, client: string]
  > = [
    ["is the peer's without a header", "203.0.113.1", undefined, "203.0.113.1"],
    ["is the peer's when the peer is no trusted proxy", "203.0.113.1", "198.51.100.1", "203.0.113.1"],
    ["is the one that a trusted proxy reports", "10.0.0.1", "198.51.100.1", "198.51.100.1"],
    [
      "is the one that the outermost trusted proxy reports",
      "10.0.0.1",
      "198.51.100.1, 10.0.0.2, 10.0.0.3",
      "198.51.100.1",
    ],
    // threat: proxies
    ["is not what the client wrote itself", "10.0.0.1", "192.0.2.66, 198.51.100.1", "198.51.100.1"],
    ["is the proxy's when all are trusted", "10.0.0.1", "10.0.0.2", "10.0.0.2"],
    [
      "is the last valid one where a proxy wrote an invalid one",
      "10.0.0.1",
      "198.51.100.1, unknown, 10.0.0.2",
      "10.0.0.2",
    ],
    ["is read without its port", "10.0.0.1", "198.51.100.1:4711", "198.51.100.1"],
    ["is read in IPv6", "fd00::1", "2001:db8::7", "2001:db8::7"],
    ["is read in IPv6 with a port", "fd00::1", "[2001:db8::7]:4711", "2001:db8::7"],
    ["is trusted as an IPv4 address in IPv6", "::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["is the peer's for an empty header", "10.0.0.1", "", "10.0.0.1"],
    ["is this machine's on a Unix socket", undefined, undefined, "127.0.0.1"],
    [
      "is found in a chain beyond the maximum",
      "10.0.0.1",
      `192.0.2.66, ${"10.0.0.9, ".repeat(100)}10.0.0.2`,
      "10.0.0.9",
    ],
  ]
  for (const [what, peer, forwarded, client] of CASES)
    test(what, () => assert.strictEqual(seen(peer, forwarded, PROXIES), client))

  test("is the peer's when no proxy is trusted", () => {
    assert.strictEqual(seen("10.0.0.1", "198.51.100.1", []), "10.0.0.1")
  })
})
