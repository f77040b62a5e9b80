import type { Address } from "@waybill/domain/values/Address"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as IdKey from "@waybill/store/postgres/IdKey"
import * as EmailFacets from "@waybill/store/readmodels/emails/EmailFacets"
import * as EmailLogChoice from "@waybill/store/search/EmailLogChoice"
import type { Known } from "@waybill/store/search/EmailLogCriteria"
import * as EmailLogFilter from "@waybill/store/search/EmailLogFilter"
import * as EmailLogPlan from "@waybill/store/search/EmailLogPlan"
import type * as EmailLogSource from "@waybill/store/search/EmailLogSource"
import type { Walked } from "@waybill/store/search/EmailLogWalk"
import { assert, describe, it } from "../../support/effectTest.ts"
import { account, emailId } from "./emailLogRows.ts"

const LIMIT = 20
const NOW = Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z")
const NOTHING: Known = { facets: [], codes: [], unread: [] }

type Filters = Omit<EmailLogFilter.Query, "account_id" | "limit">

const begin = (filters: Filters, known: Partial<Known> = {}, isCount = false) => {
  const filter = EmailLogFilter.filterOf({ ...filters, account_id: account(1), limit: LIMIT }, NOW)
  assert(filter !== undefined)
  return EmailLogPlan.begin(filter, LIMIT, { ...NOTHING, ...known }, isCount)
}

/** Says what a step does: its lists, and how many ids it reads of them. */
const said = (step: EmailLogPlan.Step): string => {
  switch (step._tag) {
    case "Compare":
      return `compare ${step.sized.map(([source, size]) => `${listed(source)}/${size}`).join(" ")}`
    case "FindEnd":
      return `find the end of ${step.messages} messages`
    case "FindTexts":
      return "find texts"
    case "Walk":
      return `walk ${listed(step.source)}/${step.chunk}${step.room.isCount ? " by keys" : ""}`
    case "Stop":
      return `stop${step.at === null ? "" : ` at ${step.at}`}`
  }
}
const listed = (source: EmailLogSource.Source): string =>
  source._tag === "Common" ? source.sources.map(listed).join("&") : source._tag

const ana = "ana@example.org" as Address
const ALL = EmailLogPlan.FIRST_CHUNK

describe("the plan of a search", () => {
  it.for<[title: string, filters: Filters, first: string]>([
    ["reads the page from the log if nothing is searched", {}, "walk All/21"],
    ["reads the page from the list of one filter, all of which match", { tag: ["a"] }, "walk Terms/21"],
    ["compares the lists of several filters", { tag: ["a"], to: ana }, "compare Terms/256 Terms/256"],
    ["walks the log for a status that nearly all have", { status: ["delivered"] }, `walk All/${ALL}`],
    ["walks what waits for delivery, some of which is deferred", { status: ["queued"] }, `walk Status/${ALL}`],
    ["walks the list of a rarer status", { status: ["delivered"], tag: ["a"] }, `walk Terms/${ALL}`],
    ["has no list of a domain beside an address", { domain: "acme.test" as never, from: ana }, `walk Terms/${ALL}`],
    ["reads first events for a part of a text", { subject: "order" }, `find the end of ${ALL} messages`],
    ["walks the log for what an event does not tell", { subject: "Übergabe" }, `walk All/${ALL}`],
    ["walks the list of another filter beside a part", { subject: "order", tag: ["a"] }, `walk Terms/${ALL}`],
    ["finds nothing without a message with the code", { code: ["550"] }, "stop"],
    ["finds nothing without scheduled mail", { scheduled_before: NOW }, "stop"],
  ])("%s", ([, filters, first]) => {
    assert.strictEqual(said(EmailLogPlan.next(begin(filters))), first)
  })

  it("follows from what the database knows", () => {
    const cases: ReadonlyArray<readonly [Filters, Partial<Known>, string]> = [
      [{ code: ["5xx"] }, { codes: [451, 550, 552] }, `walk Code/${ALL} by keys`],
      [{ code: ["5xx"] }, { codes: [1, 550] }, `walk Code/${ALL}`],
      [{ scheduled_before: NOW }, { facets: [EmailFacets.SCHEDULED] }, `walk Status/${ALL}`],
      [{ api_key_id: "key_01kakz5xq8e4vb2m0r7c3d9h1t" as never }, {}, `walk Key/${ALL} by keys`],
      [{ api_key_id: "key_01kakz5xq8e4vb2m0r7c3d9h1t" as never }, { unread: undefined }, `walk All/${ALL} by keys`],
    ]
    for (const [filters, known, first] of cases)
      assert.strictEqual(said(EmailLogPlan.next(begin(filters, known, true))), first)
  })

  /** The first ids of a list, one a minute from the newest, `apart` of which are between two of them. */
  const sample = (count: number, apart: number): EmailLogSource.Sample => ({
    count,
    first: uuidOf(50_000),
    last: uuidOf(50_000 - (count - 1) * apart),
  })
  const uuidOf = (nth: number) => IdKey.of(emailId(nth))
  const compared = (...samples: ReadonlyArray<EmailLogSource.Sample>) => {
    const state = begin({ tag: ["a"], to: ana })
    const step = EmailLogPlan.next(state)
    assert(step._tag === "Compare")
    return EmailLogPlan.compared(state, step, samples)
  }

  it("walks the rarest list, or those together that are about as long as each other", () => {
    const { SAMPLE } = EmailLogChoice
    assert.strictEqual(said(EmailLogPlan.next(compared(sample(SAMPLE, 1), sample(10, 1)))), `walk Terms/${ALL}`)
    assert.strictEqual(said(EmailLogPlan.next(compared(sample(SAMPLE, 1), sample(SAMPLE, 9)))), `walk Terms/${ALL}`)
    assert.strictEqual(
      said(EmailLogPlan.next(compared(sample(SAMPLE, 1), sample(SAMPLE, 2)))),
      "walk Terms&Terms/65536",
    )
  })

  const walk = (rows: number, examined: number, others: Partial<Walked> = {}): Walked => ({
    rows: Array.from({ length: rows }, (_, nth) => ({ id: emailId(nth), record: undefined })),
    examined,
    isEnd: false,
    bytes: 0,
    isFull: false,
    last: uuidOf(7),
    ...others,
  })
  const after = (filters: Filters, ...walks: ReadonlyArray<Walked>) => walks.reduce(EmailLogPlan.walked, begin(filters))

  it("reads more ids the fewer match, and looks up texts once matches are rare", () => {
    const parts = { subject: "Übergabe" }
    const cases: ReadonlyArray<readonly [ReadonlyArray<Walked>, string]> = [
      [[walk(21, 64)], "stop"],
      [[walk(3, 64, { isEnd: true })], "stop"],
      [[walk(3, 64, { isFull: true })], `stop at ${emailId(7)}`],
      // The page fills with the next step.
      [[walk(16, 64)], "walk All/64"],
      [[walk(8, 64)], "walk All/156"],
      // No match yet: the texts are looked up.
      [[walk(0, 64)], "find texts"],
      [[walk(0, EmailLogPlan.MAX_EXAMINED)], `stop at ${emailId(7)}`],
    ]
    for (const [walks, step] of cases) assert.strictEqual(said(EmailLogPlan.next(after(parts, ...walks))), step)
  })

  it("starts again with the lists of texts, and goes on if there are none", () => {
    const state = after({ subject: "Übergabe" }, walk(0, 64))
    const list: EmailLogSource.Source = { _tag: "Domain", domain: 1 }
    assert.strictEqual(said(EmailLogPlan.next(EmailLogPlan.withTexts(state, [list]))), `walk Domain/${ALL}`)
    assert.strictEqual(said(EmailLogPlan.next(EmailLogPlan.withTexts(state, []))), "walk All/256")
    assert.strictEqual(
      said(EmailLogPlan.next(EmailLogPlan.withTexts(state, [list, list]))),
      "compare Domain/256 Domain/256",
    )
  })

  it("continues after the end of lists that were read together", () => {
    const { SAMPLE } = EmailLogChoice
    const state = compared(sample(SAMPLE, 1), sample(SAMPLE, 2))
    const common = state.choice?.common ?? assert.fail("only one list is read")
    const next = EmailLogPlan.walked(state, walk(0, 5, { isEnd: true }))
    assert.deepStrictEqual([next.end, next.examined, next.range.below], [undefined, common.examined, common.last])
    // Matches are rare, and there are no texts to look up.
    assert.strictEqual(said(EmailLogPlan.next(next)), "find texts")
    assert.strictEqual(said(EmailLogPlan.next(EmailLogPlan.withTexts(next, []))), "compare Terms/256 Terms/256")
  })
})
