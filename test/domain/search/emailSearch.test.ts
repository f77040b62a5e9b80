import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import * as SearchDates from "@waybill/domain/search/SearchDates"
import { assert, describe, it } from "../../support/effectTest.ts"

const NOW = Date.parse("2026-11-30T10:00:30.000Z")
const parse = (text: string) => EmailSearch.parse(text, { keys: undefined, now: NOW })

describe("a search", () => {
  it.for<[typed: string, filters: EmailSearch.Filters]>([
    ["provider:gmail", { provider: "gmail" }],
    ["provider:Google,microsoft provider:hotmail", { provider: "gmail,outlook" }],
    ["provider:googlemail.com,web.de,aol,yahoo.co.uk", { provider: "gmail,gmx,yahoo" }],
    [
      "scheduled:tomorrow",
      { scheduled_after: "2026-12-01T00:00:00.000Z", scheduled_before: "2026-12-02T00:00:00.000Z" },
    ],
    [
      "scheduled:2026-12-31",
      { scheduled_after: "2026-12-31T00:00:00.000Z", scheduled_before: "2027-01-01T00:00:00.000Z" },
    ],
    ["is:bounced,failed", { status: "bounced,failed" }],
    ["is:Partly-Bounced", { status: "delivered,sent", recipient_status: "bounced" }],
    [
      'is:"partly failed,partly bounced" is:failed',
      { status: "failed,delivered,sent", recipient_status: "failed,bounced" },
    ],
    ["scheduled:24h", { scheduled_before: "2026-12-01T10:01:00.000Z" }],
    ["before:tomorrow", { created_before: "2026-12-01T00:00:00.000Z" }],
    [
      "after:today until:tomorrow",
      { created_after: "2026-11-30T00:00:00.000Z", created_before: "2026-12-01T00:00:00.000Z" },
    ],
  ])("%s is understood", ([typed, filters]) => {
    const { isUnderstood, ...search } = parse(typed)
    assert.isTrue(isUnderstood)
    assert.deepStrictEqual(search.filters, filters)
  })

  it.for<[typed: string, correction: string | undefined]>([
    ["provider:gmial", "provider:gmail"],
    ["provider:acme.com", "to:@acme.com"],
    ["provider:other", undefined],
    ["scheduled:2026-12-01T10:00", undefined],
    ["scheduled:someday", undefined],
    ["customerId:c23", "metadata:customerId=c23"],
    ['plan:"two words"', 'metadata:"plan=two words"'],
    ["customer:", undefined],
    ["form:ana", "from:ana"],
    ["from:news", "news"],
    ['from:"the news"', '"the news"'],
    ["scheduled:today scheduled:7d", undefined],
    ["is:undelivered", "is:bounced,failed"],
    ["anyone:complaints,queued", "anyone:complained,queued"],
    ["anyone:partly-bounced", "anyone:bounced"],
    ["is:partly-bounced,failed", undefined],
    ["is:partly-bounced anyone:bounced", undefined],
    ["to:ana.*@gmail.com", "to:ana"],
    ["to:*@gmail.com", "to:@gmail.com"],
    ["from:ana*@gmail.com", "from:@gmail.com"],
    ["domain:*.acme.com", "domain:acme.com"],
    ["to:*", undefined],
  ])("%s is not, and says what is", ([typed, correction]) => {
    const { chips, isUnderstood } = parse(typed)
    assert.isFalse(isUnderstood)
    assert.strictEqual(chips.at(-1)?.correction, correction)
  })

  it("has each filter of a link as the words that mean it", () => {
    const samples: { readonly [K in EmailFilter.Kind]: string } = {
      address: "ana@example.org",
      part: "ana",
      text: "Your receipt",
      tags: "welcome",
      pairs: "7041",
      domain: "acme.com",
      statuses: "bounced,failed",
      recipientStatuses: "bounced",
      codes: "550,4xx",
      providers: "gmail",
      key: "key_01kakz5xq8e4vb2m0r7c3d9h1t",
      template: "tpl_01kakz5xq8e4vb2m0r7c3d9h1t",
      time: "2026-11-30T00:00:00.000Z",
      due: "2026-12-01T00:00:00.000Z",
      email: "msg_01kakz5xq8e4vb2m0r7c3d9h1t",
    }
    for (const name of EmailFilter.NAMES) {
      const { kind } = EmailFilter.of(name)
      const parameter = kind === "pairs" ? `${name}.order` : name
      const { search = "" } = EmailSearch.searchOf({ [parameter]: samples[kind] })
      // Words mean a whole day of scheduled mail, and links have times.
      const found = kind === "due" ? {} : { [parameter]: kind === "tags" ? [samples[kind]] : samples[kind] }
      assert.deepStrictEqual<object>(parse(search).filters, found, name)
    }
  })

  it("writes the beginning of a day and of a minute as people type them, and other times whole", () => {
    for (const [iso, typed] of [
      ["2026-11-30T00:00:00.000Z", "today"],
      ["2026-11-29T00:00:00.000Z", "yesterday"],
      ["2026-11-24T00:00:00.000Z", "2026-11-24"],
      ["2026-11-29T10:00:00.000Z", "2026-11-29T10:00"],
      ["2026-11-29T10:00:07.000Z", "2026-11-29T10:00:07.000Z"],
    ] as const) {
      assert.strictEqual(SearchDates.write(iso, NOW), typed)
      assert.strictEqual(SearchDates.parse(typed, NOW), iso)
    }
  })

  it("takes an address for one only if it is no pattern", () => {
    for (const address of ["ana@example.org", "o'brien+x@mail.example.co.uk", "ana@bücher.example"])
      assert.isTrue(EmailSearch.isAddress(address), address)
    for (const text of [
      "ana.*@gmail.com",
      "*@gmail.com",
      "ana@*.com",
      "ana@gmail",
      "to:ana@gmail.com",
      '"ana"@gmail.com',
    ])
      assert.isFalse(EmailSearch.isAddress(text), text)
  })

  it("names a provider by each of its addresses", () => {
    for (const provider of MailboxProvider.ALL)
      for (const part of MailboxProvider.partsOf([provider]))
        for (const end of part.endsWith(".") ? ["com", "fr", "co.uk", "com.br"] : [""]) {
          const address = `ana${part}${end}`
          assert.strictEqual(MailboxProvider.of(address.toUpperCase()), provider, address)
          assert.strictEqual(MailboxProvider.named(address.slice(3)), provider, address)
          assert.match(address, new RegExp(MailboxProvider.expressionOf([provider]), "u"))
        }
    for (const address of ["a@gmail.com.example", "a@xgmail.com", "a@live.example", "a@yahoo.co.uk.x", "a@live"])
      assert.isFalse(new RegExp(MailboxProvider.expressionOf(MailboxProvider.ALL), "u").test(address), address)
  })
})
