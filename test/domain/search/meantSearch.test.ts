import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as MeantSearch from "@waybill/domain/search/MeantSearch"
import * as Phrases from "@waybill/domain/search/Phrases"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"
import { searchHints } from "@waybill/domain/search/searchHints"
import { assert, describe, it } from "../../support/effectTest.ts"

const keys = ["Billing service", "Shop", "Shop, production"].map((name) => ({ id: name, name }))
const context: EmailSearch.Context = { keys, now: Date.parse("2026-11-30T10:00:30.000Z") }
const NOT_DELIVERED = "anyone:bounced,failed"
const NOT_GOT = "anyone:queued,sent,deferred,bounced,failed,suppressed,canceled"

describe("plain words of a search", () => {
  it.for<[typed: string, meant: string | undefined]>([
    ["bounced at gmail yesterday", "anyone:bounced provider:gmail since:yesterday until:today"],
    ["bounced at bigcorp today", "anyone:bounced to:@bigcorp since:today"],
    ["what bounced at @mail.bigcorp.com?", "anyone:bounced to:@mail.bigcorp.com"],
    ["the emails that Bounced at Hotmail in tag:news", "anyone:bounced provider:outlook tag:news"],
    ["bounces at ana", "anyone:bounced to:@ana"],
    ["from ana 7d", "ana since:7d"],
    ["failed today", "anyone:failed since:today"],
    ["failed last week", "anyone:failed since:2026-11-23 until:today"],
    ["failed since 2026-11-01", "anyone:failed since:2026-11-01"],
    ["failed on 2026-11-29", "anyone:failed since:2026-11-29 until:today"],
    ["failed before 2026-11-20T10:00", "anyone:failed until:2026-11-20T10:00"],
    ["not delivered", NOT_DELIVERED],
    ["receipts that weren’t delivered", `receipt ${NOT_DELIVERED}`],
    ["receipt -delivered", `receipt ${NOT_DELIVERED}`],
    ["undelivered today", `${NOT_DELIVERED} since:today`],
    ["why did ana not get it", `to:^ana ${NOT_GOT}`],
    ["Why didn't Ana get it?", `to:^Ana ${NOT_GOT}`],
    ["ana@example.org never received the receipt", `to:ana@example.org ${NOT_GOT} receipt`],
    ["who did not get order 9108", `${NOT_GOT} order 9108`],
    ["undelivered or failed", NOT_DELIVERED],
    ["deferred now", "is:deferred"],
    ["is anything still stuck?", "is:deferred"],
    ["emails from shop.example that failed", "from:shop.example anyone:failed"],
    ["sent from hi@shop.example today", "from:hi@shop.example since:today"],
    ["receipts sent to olga", "receipt to:^olga"],
    ["login codes for ben today", "login code ben since:today"],
    ["sent by billing service yesterday", 'key:"Billing service" since:yesterday until:today'],
    ["mails from Shop", "key:Shop"],
    ["deliveries by Shop, production?", 'deliver key:"Shop, production"'],
    ["show me all of my complaints", "is:complained"],
    ["mails to ana", "to:^ana"],
    ["did bo not get it", `to:^bo$ ${NOT_GOT}`],
    ["mails to @acme", "to:@acme"],
    ["emails sent to gmail", "provider:gmail"],
    ["emails sent today", "since:today"],
    ["what was sent yesterday", "since:yesterday until:today"],
    ["scheduled tomorrow", "scheduled:tomorrow"],
    ["scheduled for 2026-12-24", "scheduled:2026-12-24"],
    ["tomorrow's mail", "scheduled:tomorrow"],
    ["partly bounced", "is:partly-bounced"],
    ["bounced or failed today", "anyone:bounced,failed since:today"],
    ["is:bounced failed", "anyone:bounced,failed"],
    ["554", "code:554"],
    ["error 5xx at outlook", "code:5xx provider:outlook"],
    ["order 9108", "metadata:order=9108"],
    ["Order number #9108", "metadata:order=9108"],
    ["orderId A-17", "metadata:orderId=A-17"],
    ["can you tell them the news of ana please", "tell news ana"],
    [
      "Ana invited you to the team Design of Acme Limited (EU)",
      '"Ana invited you to the team Design of Acme Limited (EU)"',
    ],
    ["how many emails did we send this month", "since:2026-11-01"],
    ["who bounced", "anyone:bounced"],
    ["how many bounced today", "anyone:bounced since:today"],
    ["which bounced at Gmail yesterday", "anyone:bounced provider:gmail since:yesterday until:today"],
    ["bounced or scheduled", "is:bounced,scheduled"],
    ["did priya get invoice 2026-259", "to:^priya invoice 2026-259"],
    ["did anyone get it", undefined],
    ["deferred right now", "is:deferred"],
    ["mails with tag billing to gmail", "tag:billing provider:gmail"],
    ["tagged billing, yesterday", "tag:billing since:yesterday until:today"],
    ["api key billing service", 'key:"Billing service"'],
    ["deliveries with key Shop, production", 'deliver key:"Shop, production"'],
    ["sent with the shop", "is:sent shop"],
    ["mail sent last friday", "since:2026-11-27 until:2026-11-28"],
    ["bounced on Sunday", "anyone:bounced since:yesterday until:today"],
    ["last Monday", "since:2026-11-23 until:2026-11-24"],
    ["failed since Wednesday", "anyone:failed since:2026-11-25"],
    ["sent last week", "since:2026-11-23 until:today"],
    ["this week", "since:today"],
    ["last month", "since:2026-10-01 until:2026-11-01"],
    ["failed in the last 3 days", "anyone:failed since:3d"],
    ["black friday", undefined],
    // Not a question, or one that no filter says.
    ["at gmail", "provider:gmail"],
    ['"at gmail"', undefined],
    ["the", undefined],
    ["order for ana", undefined],
    ["Order 7", undefined],
    ["not bounced", undefined],
    ["bounced -tag:news", undefined],
    ["ana or bo bounced", undefined],
    ["today yesterday", undefined],
    ["gmail to:", undefined],
    [`bounced ${"x".repeat(EmailSearch.MAX_PART_CHARS)}`, undefined],
  ])("%s: %s", ([typed, meant]) => {
    assert.strictEqual(MeantSearch.meantBy(typed, context), meant)
  })

  it.for<[typed: string, ...readings: ReadonlyArray<string>]>([
    ["bounced today", "anyone:bounced since:today"],
    ["bouncd", "anyone:bounced"],
    ["suppresed orders", "anyone:suppressed order"],
    ["receipts", "receipt"],
    ["invoices tag:eu", "invoice tag:eu"],
    ["addresses", "address"],
    // A pair of metadata is tried after the words.
    ["did priya get invoice 2026-259", "to:^priya invoice 2026-259", "to:^priya metadata:invoice=2026-259"],
    ["order 9108", "metadata:order=9108"],
    ['"receipts"'],
    ["news"],
    ["status"],
    ["not bouncd"],
    ["receipts form:ana"],
  ])("%s that finds nothing", ([typed, ...readings]) => {
    assert.deepStrictEqual(MeantSearch.readingsOf(typed, context), readings)
  })

  it("every phrase is a search that is understood", () => {
    const samples: Readonly<Record<string, string>> = {
      SENDER: "acme.test",
      WHO: "ana",
      PLACE: "acme",
      GET: "get",
      ARRIVE: "arrive",
      DAY: "tomorrow",
      TIME: "7d",
      CODE: "550",
      NAME: "order",
      VALUE: "9108",
      WEEKDAY: "friday",
      NUMBER: "3",
      WORD: "billing",
    }
    for (const [phrase, search] of [...Phrases.PHRASES, ...Phrases.PAIRS]) {
      const typed = phrase.replace(/[A-Z]+/gu, (name) => samples[name] ?? name) + (search === "" ? " bounced" : "")
      assert.isDefined(MeantSearch.meantBy(typed, context), typed)
    }
    for (const word of SearchedStatus.STATUS_WORDS.keys()) assert.isDefined(MeantSearch.meantBy(word, context), word)
  })

  it.for<[typed: string, hints: ReadonlyArray<RegExp>]>([
    ["receipt -delivered", [/^“-delivered” is searched as text: a search cannot leave emails out\.$/u]],
    ["a OR b or c", [/^“OR” .* every word\. One filter takes several values/u, /^“or” /u]],
    ["a AND b", [/^“AND” .* anyway\.$/u]],
    ["not bounced", [/^“not” /u]],
    ["not delivered", []],
    ["no reply", []],
    ["ana*", [/^“ana\*” .* no patterns/u]],
    ['"a OR b" "-x" to:ana and-so-on -5 x-y', []],
  ])("%s is said to be text", ([typed, hints]) => {
    const said = searchHints(typed, context)
    assert.lengthOf(said, hints.length)
    for (const [nth, hint] of hints.entries()) assert.match(said[nth] ?? "", hint)
  })
})
