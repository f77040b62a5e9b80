import * as Network from "@waybill/domain/values/Network"
import * as SpecialNetworks from "@waybill/domain/values/SpecialNetworks"
import * as WebhookUrl from "@waybill/domain/webhook/WebhookUrl"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const networks = (...texts: ReadonlyArray<string>) => texts.map((text) => Result.getOrThrow(Network.parse(text)))

describe("network", () => {
  it.for<[string, ReadonlyArray<string>, ReadonlyArray<string>]>([
    ["203.0.113.7", ["203.0.113.7", "::ffff:203.0.113.7", "::ffff:cb00:7107"], ["203.0.113.8", "::1", "nonsense", ""]],
    ["10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["11.0.0.0", "9.255.255.255"]],
    ["10.128.0.0/9", ["10.128.0.1", "10.255.0.0"], ["10.127.255.255"]],
    ["0.0.0.0/0", ["1.2.3.4"], ["::1"]],
    ["2001:db8::/33", ["2001:db8::1", "2001:db8:7fff::"], ["2001:db8:8000::", "1.2.3.4"]],
    ["2001:DB8::1", ["2001:db8:0:0:0:0:0:1"], ["2001:db8::2"]],
    ["::ffff:10.0.0.0/104", ["10.1.2.3"], ["11.1.2.3"]],
    ["::/0", ["2001:db8::1"], ["1.2.3.4"]],
    ["203.0.113.7/32", ["203.0.113.7"], ["203.0.113.6"]],
    ["2001:db8::1/128", ["2001:db8::1"], ["2001:db8::"]],
    // "::" stands for a single group.
    ["1:2:3:4:5:6:7::", ["1:2:3:4:5:6:7:0"], ["1:2:3:4:5:6:7:1"]],
  ])("%s contains its addresses", ([text, inside, outside]) => {
    for (const ip of inside) assert.isTrue(Network.contains(networks(text), ip), ip)
    for (const ip of outside) assert.isFalse(Network.contains(networks(text), ip), ip)
  })

  it.for([
    "",
    "10.0.0.1/8",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/08",
    "10.0.0.0/8/8",
    "10.0.0",
    "256.0.0.1",
    "010.0.0.1",
    "1.2.3.4.5",
    "::/129",
    "1::2::3",
    "12345::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::8:9",
    "fe80::1%eth0",
    "::1.2.3",
    ":1",
    "example.org",
    "::ffff:10.0.0.0/95",
    "::ffff:0.0.0.0/95",
  ])("%j is not a network", (text) => assert.isTrue(Result.isFailure(Network.parse(text))))
})

describe("special address", () => {
  it.for([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "2002:7f00:1::",
    "2001:0:1::",
    "2001:db8::1",
    "not an address",
  ])("%s is special", (ip) => assert.isTrue(SpecialNetworks.isSpecial(ip)))
  it.for([
    "8.8.8.8",
    "1.1.1.1",
    "172.32.0.1",
    "100.128.0.1",
    "192.169.0.1",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
  ])("%s is not special", (ip) => assert.isFalse(SpecialNetworks.isSpecial(ip)))
})

const verdict = (text: string, ...allowed: ReadonlyArray<string>) =>
  Result.merge(
    Result.flatMap(WebhookUrl.parse(text), (url) =>
      Result.mapError(
        WebhookUrl.check(url, networks(...allowed)),
        ({ status, reason, problem }) => `${status} ${reason}: ${problem}`,
      ),
    ),
  )

describe("webhook URL", () => {
  it.for<[string, ...ReadonlyArray<string>]>([
    ["https://example.org/hook?a=b"],
    ["https://8.8.8.8/"],
    ["https://[2001:4860:4860::8888]/"],
    ["https://example.org:8443/"],
    ["https://127.0.0.1/", "127.0.0.0/8"],
    ["http://127.0.0.1:3000/", "127.0.0.0/8"],
    ["http://localhost:3000/", "127.0.0.1"],
    ["https://localhost/", "::1"],
    ["http://hooks.internal/", "10.0.0.0/8"],
    ["https://[::1]/", "::1"],
  ])("%s is allowed", ([text, ...allowed]) => assert.strictEqual(verdict(text, ...allowed), text))

  it.for<[string, RegExp, ...ReadonlyArray<string>]>([
    ["http://example.org/", /^422 url_not_allowed: plain http/u],
    ["http://8.8.8.8/", /plain http/u],
    ["http://8.8.8.8/", /plain http/u, "10.0.0.0/8"],
    ["https://127.0.0.1/", /127\.0\.0\.1 is not a public address/u],
    ["https://127.0.0.1./", /127\.0\.0\.1 is not a public address/u],
    ["https://127.1/", /127\.0\.0\.1 is not a public address/u],
    ["https://2130706433/", /127\.0\.0\.1 is not a public address/u],
    ["https://0x7f000001/", /127\.0\.0\.1 is not a public address/u],
    ["https://0177.0.0.1/", /127\.0\.0\.1 is not a public address/u],
    ["https://１２７.0.0.1/", /127\.0\.0\.1 is not a public address/u],
    ["https://169.254.169.254/latest", /is not a public address/u],
    ["https://[::ffff:10.0.0.1]/", /is not a public address/u],
    ["https://[::1]/", /is not a public address/u],
    ["https://[fd00::1]/", /is not a public address/u, "10.0.0.0/8"],
    ["https://localhost/", /is this machine/u],
    ["https://LOCALHOST./", /is this machine/u],
    ["https://api.localhost/", /is this machine/u, "10.0.0.0/8"],
    ["ftp://example.org/", /must be an https or http URL/u],
    ["javascript:alert(1)", /must be an https or http URL/u],
    ["example.org/hook", /must be an https or http URL/u],
    ["https://", /must be an https or http URL/u],
    ["https://user@example.org/", /user name and a password/u],
    ["https://example.org/#x", /fragment/u],
    ["https://example.org:0/", /port 0/u],
    ["https://exam\nple.org/", /control characters/u],
    [`https://example.org/${"x".repeat(2048)}`, /2068 characters; at most 2048/u],
  ])("%s is refused", ([text, because, ...allowed]) => assert.match(verdict(text, ...allowed), because))

  it("the refusal names the setting", () => {
    const refused = WebhookUrl.check(Result.getOrThrow(WebhookUrl.parse("https://10.0.0.1/")), [])
    assert(Result.isFailure(refused))
    assert.match(refused.failure.message, /WEBHOOK_ALLOW_NETWORKS/u)
  })
})
