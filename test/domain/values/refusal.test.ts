import * as Refusal from "@waybill/domain/values/Refusal"
import { assert, describe, it } from "../../support/effectTest.ts"

describe("refusal", () => {
  it("each status has one code", () => {
    assert.deepStrictEqual(Refusal.CODES, {
      400: "invalid_request",
      401: "unauthorized",
      403: "forbidden",
      404: "not_found",
      422: "unprocessable",
      429: "rate_limited",
      500: "internal_error",
      503: "internal_error",
    })
  })

  it("a refusal is recognised by its tag, its reason and a status that has a code", () => {
    const whole = { _tag: "EmailNotFound", status: 404, reason: "email_not_found", message: "" }
    assert.isTrue(Refusal.isRefusal(whole))
    assert.isTrue(Refusal.isRefusal(new Refusal.NothingNew()))
    for (const name of ["_tag", "status", "reason"]) {
      const { [name]: _, ...rest } = whole as Readonly<Record<string, unknown>>
      assert.isFalse(Refusal.isRefusal(rest), `without ${name}`)
    }
    for (const other of [{ ...whole, status: 418 }, { ...whole, reason: 404 }, null, undefined, "not_found", 404])
      assert.isFalse(Refusal.isRefusal(other), JSON.stringify(other))
  })
})
