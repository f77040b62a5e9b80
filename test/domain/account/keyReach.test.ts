import * as KeyLimits from "@waybill/domain/account/KeyLimits"
import type * as Network from "@waybill/domain/values/Network"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

describe("key made by a key", () => {
  const maker: KeyLimits.KeyLimits = { scopes: ["email:send"], domain: null, allowed_ips: [], expires_at: null }
  const asked = { scopes: ["email:send" as const], domain: null, allowed_ips: [], expires_at: null }
  it("a new key has no scope that its maker lacks", () => {
    assert.isTrue(Result.isSuccess(KeyLimits.limitsOfNewKey(maker, asked)))
    const more = KeyLimits.limitsOfNewKey(maker, { ...asked, scopes: ["email:send", "domains:read"] })
    assert.deepInclude(Result.isFailure(more) ? more.failure : {}, { reason: "more_than_the_key", field: "scopes" })
    const all = KeyLimits.limitsOfNewKey({ ...maker, scopes: ["admin"] }, { ...asked, scopes: ["domains:write"] })
    assert.isTrue(Result.isSuccess(all))
  })
  it("a new key has no network beyond its maker's", () => {
    const from = (own: string, theirs: string) =>
      Result.isSuccess(
        KeyLimits.limitsOfNewKey(
          { ...maker, allowed_ips: [own as Network.Network] },
          { ...asked, allowed_ips: [theirs as Network.Network] },
        ),
      )
    assert.deepStrictEqual(
      [
        from("10.0.0.0/8", "10.1.0.0/16"),
        from("10.0.0.0/8", "10.0.0.0/7"),
        from("10.0.0.0/8", "11.0.0.1"),
        from("::/0", "10.0.0.1"),
        from("2001:db8::/32", "2001:db8:1::/48"),
        from("::ffff:10.0.0.0/104", "10.2.0.0/16"),
      ],
      [true, false, false, false, true, true],
    )
  })
})
