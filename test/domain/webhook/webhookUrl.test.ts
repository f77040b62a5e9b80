import * as WebhookUrl from "@waybill/domain/webhook/WebhookUrl"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const read = (text: string) => Result.merge(WebhookUrl.parse(text))
const hook = (chars: number) => "https://acme.test/".padEnd(chars, "a")

describe("webhook URL", () => {
  it("a URL has up to 2048 characters", () => {
    assert.strictEqual(read(hook(2048)), hook(2048))
    assert.strictEqual(read(hook(2049)), "is 2049 characters; at most 2048 are allowed")
  })

  it.each([
    ["not a url", "must be an https or http URL"],
    ["/hook", "must be an https or http URL"],
    ["ftp://acme.test/", "must be an https or http URL"],
    ["javascript:alert(1)", "must be an https or http URL"],
    ["https://acme.test/\n", "must not contain control characters"],
    ["https://user@acme.test/", "must have a user name and a password, or neither"],
    ["https://:word@acme.test/", "must have a user name and a password, or neither"],
    [
      "https://a%3Ab:word@acme.test/",
      "must have a user name and a password that can be sent, the name without a colon",
    ],
    ["https://user:%ff@acme.test/", "must have a user name and a password that can be sent, the name without a colon"],
    ["https://acme.test/#part", "must not contain a fragment"],
    ["https://acme.test:0/", "must not use port 0"],
  ])("%j is refused: it %s", (text, why) => assert.strictEqual(read(text), why))

  it.each([
    ["http://acme.test/", "http://acme.test/"],
    ["HTTPS://Acme.TEST:443/a?b=c", "https://acme.test/a?b=c"],
    ["https://0x7f000001/", "https://127.0.0.1/"],
    ["https://acme.test:8443", "https://acme.test:8443/"],
    ["https://user:p@ss%20w@acme.test/a", "https://user:p%40ss%20w@acme.test/a"],
  ])("%j is read as %s", (text, url) => assert.strictEqual(read(text), url))
})
