import type { Address } from "@waybill/domain/values/Address"
import type { TemplateId } from "@waybill/domain/values/Id"
import type { DomainName } from "@waybill/domain/values/DomainName"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Query } from "@waybill/store/search/EmailLogFilter"
import type * as EmailLogRecord from "@waybill/store/readmodels/emails/EmailLogRecord"
import * as EmailIds from "@waybill/store/search/EmailIds"
import * as EmailLogPlan from "@waybill/store/search/EmailLogPlan"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import * as EmailLog from "@waybill/store/readmodels/emails/EmailLog"
import * as IdKey from "@waybill/store/postgres/IdKey"
import * as TermKey from "@waybill/store/postgres/TermKey"
import * as EmailSubjects from "@waybill/store/readmodels/emails/EmailSubjects"
import { Effect, Option } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { account, apiKeyId, BEGAN_MS, emailId, follow, type Message, message, STEP_MS, write } from "./emailLogRows.ts"

const MESSAGES = 2_000
const mine = Array.from({ length: MESSAGES }, (_, nth) => message(nth))
const idOf = (record: EmailLogRecord.EmailLogRecord) => record["id"]

type Filters = Omit<Query, "account_id" | "limit">

const has = (text: string, part = "") => text.toLowerCase().includes(part.toLowerCase())

/** The filters of the contract, one per line. */
const matches = (filters: Filters) => (each: Message) =>
  (filters.status === undefined ||
    filters.status.length === 0 ||
    filters.status.includes(each.status) ||
    (filters.status.includes("scheduled") && each.status === "queued" && (each.scheduled_at ?? "") > "2100")) &&
  (filters.recipient_status === undefined ||
    each.recipients.some(({ status }) => filters.recipient_status?.includes(status))) &&
  (filters.after === undefined || each.id < filters.after) &&
  (filters.before === undefined || each.id > filters.before) &&
  (filters.to === undefined || each.to.some((to) => to.toLowerCase() === filters.to?.toLowerCase())) &&
  (filters.from === undefined || each.from === filters.from.toLowerCase()) &&
  (filters.subject === undefined || each.subject.toLowerCase().includes(filters.subject.toLowerCase())) &&
  (filters.recipient === undefined || each.to.some((to) => has(to, filters.recipient))) &&
  (filters.words ?? []).every(
    (word) =>
      Object.values(each.metadata ?? {}).includes(word) ||
      [...each.to, each.from, each.subject, ...each.tags].some((text) => has(text, word)) ||
      (word.length >= "msg_".length + EmailIds.MIN_LETTERS && each.id.startsWith(word.toLowerCase())),
  ) &&
  (filters.provider === undefined ||
    each.to.some((to) =>
      filters.provider?.some((name) => to.endsWith(name === "gmail" ? "@gmail.com" : "@Hotmail.co.uk")),
    )) &&
  ((filters.scheduled_after ?? filters.scheduled_before) === undefined ||
    (each.status === "queued" &&
      each.scheduled_at !== null &&
      each.scheduled_at >= (filters.scheduled_after ?? "") &&
      each.scheduled_at < (filters.scheduled_before ?? "3"))) &&
  (filters.api_key_id === undefined || each.api_key_id === filters.api_key_id) &&
  (filters.message_id === undefined || each.id === filters.message_id) &&
  (filters.tag ?? []).every((tag) => each.tags.includes(tag)) &&
  Object.entries(filters.metadata ?? {}).every(([name, value]) => each.metadata?.[name] === value) &&
  // None of these messages was made of a template, or refused by a server.
  filters.template === undefined &&
  filters.code === undefined &&
  (filters.domain === undefined || each.domain === filters.domain) &&
  (filters.created_after === undefined || each.created_at >= filters.created_after) &&
  (filters.created_before === undefined || each.created_at < filters.created_before)

const expected = (filters: Filters): Array<unknown> =>
  mine
    .filter(matches(filters))
    .map((each) => each.id)
    .toReversed()

/** Reads all pages in the query's direction and returns their messages newest first. */
const allPages = Effect.fnUntraced(function* (filters: Filters, limit: number) {
  const pages: Array<ReadonlyArray<unknown>> = []
  let query: Query = { ...filters, account_id: account(1), limit }
  for (;;) {
    const page = yield* EmailLogQuery.list(query)
    pages.push(page.data.map(idOf))
    if (page.next_cursor === null) break
    assert.isAtMost(page.data.length, limit)
    query =
      filters.before === undefined ? { ...query, after: page.next_cursor } : { ...query, before: page.next_cursor }
  }
  return (filters.before === undefined ? pages : pages.toReversed()).flat()
})

const address = (text: string) => text as Address

const CHOICES: { readonly [Field in keyof Filters]-?: ReadonlyArray<Exclude<Filters[Field], undefined>> } = {
  status: [
    ["delivered"],
    ["complained"],
    ["bounced", "queued"],
    ["canceled"],
    [],
    ["scheduled"],
    ["scheduled", "bounced"],
    ["queued", "scheduled"],
  ],
  recipient_status: [
    ["bounced"],
    ["delivered"],
    ["failed", "canceled"],
    ["canceled"],
    ["suppressed"],
    ["queued", "sent"],
  ],
  after: [emailId(1_500), emailId(3), "msg_0000000000000000000000000a"],
  before: [emailId(400), emailId(1_990)],
  to: ["user7@example.org", "TEAM@example.org", "nobody@example.org"].map(address),
  template: ["tpl_01kakz5xq8e4vb2m0r7c3d9h1t" as TemplateId],
  from: ["hello@acme.test", "Billing@other.test", "nobody@acme.test"].map(address),
  subject: [
    "receipt",
    "RECEIPT",
    "заказ",
    "領収",
    "収",
    "e",
    "Order #12",
    "% off_",
    "\\o/",
    "οδος",
    "nothing like it",
    "#1999 ",
  ],
  recipient: ["user7@", "ser1", "EXAMPLE.org", "team", "r3", "nobody"],
  words: [
    ["receipt"],
    ["rare"],
    ["team"],
    ["USER12@"],
    ["order", "user3"],
    ["rare", "team"],
    ["заказ"],
    ["e"],
    ["no match"],
    ["BILLING@rare"],
    ["other.te", "user3"],
    ["hello@acme", "receipt", "team"],
    ["1200"],
    ["pro"],
    ["PRO"],
    ["fre"],
    ["pro", "1204"],
    ["free", "user4"],
    [emailId(7)],
    [emailId(900).toUpperCase().slice(0, 10)],
    [emailId(900).slice(0, 11), "order"],
    [emailId(900).slice(0, 9)],
    [`${emailId(900)}0`],
    ["msg_7zzzzz"],
    ["msg_000000"],
  ],
  // None of these messages was refused; emailLogCodes.test.ts has those that were.
  code: [["550"], ["4xx", "5xx"]],
  api_key_id: [apiKeyId(0), apiKeyId(1), apiKeyId(2), apiKeyId(3)],
  message_id: [emailId(0), emailId(7), emailId(1_999), emailId(5_000)],
  tag: [["receipt"], ["rare"], ["receipt", "spring"], ["rare", "spring", "receipt"], ["none"]],
  metadata: [
    { order: "1200" },
    { plan: "pro" },
    { plan: "free", receipt: "" },
    { plan: "pro", order: "1204" },
    { order: "1201" },
    { pro: "plan" },
  ],
  domain: ["acme.test", "rare.test", "unknown.test"].map((name) => name as DomainName),
  created_after: [0, 500, 1_999].map((nth) => Timestamp.fromMillis(BEGAN_MS + nth * STEP_MS)),
  provider: [["gmail"], ["outlook"], ["gmail", "outlook"]],
  scheduled_after: ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.001Z"].map((at) => Timestamp.Timestamp.make(at)),
  scheduled_before: ["2026-01-01T00:00:00.000Z", "2126-01-01T00:00:00.001Z"].map((at) => Timestamp.Timestamp.make(at)),
  created_before: [0, 700, 2_000].map((nth) => Timestamp.fromMillis(BEGAN_MS + nth * STEP_MS)),
}
const FIELDS = Object.keys(CHOICES) as ReadonlyArray<keyof Filters>

const written = Effect.all([
  write(account(1), mine),
  // Another account with the same mail under other ids, and a third without mail.
  write(
    account(2),
    mine.map((each, nth) => ({ ...each, id: emailId(nth + 10_000) })),
  ),
  // The follower has read a part of the mail.
  follow(account(1), mine.slice(0, MESSAGES / 2)),
])

layer(Database.layerFresh, { excludeTestServices: true })("a page of the log", (it) => {
  it.effect("has test data", () => written)

  for (const field of FIELDS) {
    for (const value of CHOICES[field]) {
      it.effect(`holds exactly the matches of ${field}=${JSON.stringify(value)}`, function* () {
        const filters = { [field]: value }
        const all = expected(filters)
        assert.deepStrictEqual(yield* allPages(filters, 100), all)
        const counted = yield* EmailLogQuery.count({ ...filters, account_id: account(1), limit: 1 })
        const isPage = field === "after" || field === "before"
        const found = isPage ? MESSAGES : all.length
        assert.deepStrictEqual(counted, { count: Math.min(found, 1_000), is_exact: found <= 1_000 })
      })
    }
  }

  it.effect("holds exactly the matches of any combination of filters, page by page, in both directions", function* () {
    let seed = 1
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return (seed >>> 8) % below
    }
    for (let round = 0; round < 80; round++) {
      const filters: Record<string, unknown> = {}
      for (const field of FIELDS) if (random(4) === 0) filters[field] = CHOICES[field][random(CHOICES[field].length)]
      if ("after" in filters) delete filters["before"]
      assert.deepStrictEqual(yield* allPages(filters, 20 + random(80)), expected(filters), JSON.stringify(filters))
    }
  })

  it.effect("reports whether there is more, with a cursor", function* () {
    const limit = 10
    const list = (filters: Filters) => EmailLogQuery.list({ ...filters, account_id: account(1), limit })
    const newest = yield* list({})
    const last = yield* list({ after: emailId(limit) })
    const newer = yield* list({ before: emailId(5) })
    assert.deepStrictEqual(
      [newest, last, newer].map(({ data, has_more, next_cursor }) => [data.map(idOf), has_more, next_cursor]),
      [
        [
          mine
            .slice(-limit)
            .toReversed()
            .map(({ id }) => id),
          true,
          emailId(MESSAGES - limit),
        ],
        [
          mine
            .slice(0, limit)
            .toReversed()
            .map(({ id }) => id),
          false,
          null,
        ],
        [
          mine
            .slice(6, 6 + limit)
            .toReversed()
            .map(({ id }) => id),
          true,
          emailId(5 + limit),
        ],
      ],
    )
  })

  it.effect("has forwards of an author by the domain that answers for them", function* () {
    const account_id = account(5)
    const author = address("ana@example.org")
    const domains = ["acme.test", "other.test"].map((name) => name as DomainName)
    const forwards = Array.from({ length: 40 }, (_, nth) => ({
      ...message(nth),
      from: author,
      domain: domains[nth % 2] as DomainName,
    }))
    yield* write(account_id, forwards)
    for (const domain of domains) {
      const page = yield* EmailLogQuery.list({ account_id, limit: 20, from: author, domain })
      const own = forwards.filter((each) => each.domain === domain)
      assert.deepStrictEqual(page.data.map(idOf), own.map(({ id }) => id).toReversed())
    }
    const none = yield* EmailLogQuery.list({ account_id, limit: 20, from: author, domain: "example.org" as DomainName })
    assert.deepStrictEqual(none.data, [])
  })

  it.effect("is empty for an account without mail", function* () {
    const page = yield* EmailLogQuery.list({ account_id: account(3), limit: 20, status: ["delivered"] })
    assert.deepStrictEqual(page, { data: [], has_more: false, next_cursor: null })
  })

  it.effect("ends early if common filters rarely match together, and continues from there", function* () {
    const sql = yield* Sql
    const account_id = account(4)
    const ids = Array.from({ length: 2 * EmailLogPlan.MAX_EXAMINED + 20_000 }, (_, nth) => IdKey.of(emailId(nth)))
    yield* sql`
        INSERT INTO email_log_terms
        SELECT ${IdKey.of(account_id)}::uuid,
          CASE nth % 2 WHEN 0 THEN ${TermKey.of("tag:a")} ELSE ${TermKey.of("tag:b")} END::bigint, id
        FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS given(id, nth) ORDER BY 2, 3`
    yield* write(account_id, [{ ...message(0), tags: ["a", "b"] }])
    yield* sql`VACUUM (ANALYZE) email_log_terms`
    const list = (after: string | null) =>
      EmailLogQuery.list({ account_id, limit: 20, tag: ["a", "b"], ...(after === null ? {} : { after }) })
    const first = yield* list(null)
    assert.deepStrictEqual([first.data, first.has_more], [[], true])
    const pages = [first]
    for (let next = first.next_cursor; next !== null; next = pages.at(-1)?.next_cursor ?? null)
      pages.push(yield* list(next))
    assert.deepStrictEqual(
      pages.flatMap((page) => page.data.map(idOf)),
      [emailId(0)],
    )
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("messages with the keys of other texts", (it) => {
  const mail = Array.from({ length: 100 }, (_, nth) => message(nth))
  const list = (filters: Filters, limit: number) => EmailLogQuery.list({ ...filters, account_id: account(1), limit })
  const searched = {
    to: address("user7@example.org"),
    tag: ["receipt"],
    from: address("hello@acme.test"),
    domain: "acme.test" as DomainName,
    subject: "your receipt",
  }

  it.effect("are not on a page, and the page is full nevertheless", function* () {
    const sql = yield* Sql
    yield* write(account(1), mail)
    const before = yield* Effect.forEach(Object.entries(searched), ([field, value]) => list({ [field]: value }, 100))
    // As if the hash of every other text were the same.
    const row = (column: "to_key" | "tag_key" | "from_key" | "domain_key" | "subject_key", key: bigint | number) =>
      sql`UPDATE email_log SET ${sql(column)} = ${key}::bigint WHERE account_id = id_key(${account(1)})`
    yield* sql`
      INSERT INTO email_log_terms SELECT account_id, to_key, id FROM email_log
      UNION SELECT account_id, tag_key, id FROM email_log WHERE tag_key IS NOT NULL ON CONFLICT DO NOTHING`
    yield* row("to_key", TermKey.of(EmailLog.recipientTerm(searched.to)))
    yield* row("tag_key", TermKey.of(EmailLog.tagTerm("receipt")))
    yield* row("from_key", EmailLog.fromKey(searched.from))
    yield* row("domain_key", EmailLog.domainKey(searched.domain))
    yield* row("subject_key", EmailSubjects.keyOf("Your receipt"))
    // A key that the log's row holds is not among the further ones.
    yield* sql`
      DELETE FROM email_log_terms t USING email_log l
      WHERE l.account_id = t.account_id AND l.id = t.email_id AND t.term IN (l.to_key, l.tag_key)`
    for (const [nth, [field, value]] of Object.entries(searched).entries()) {
      const found = before[nth]?.data.map(idOf) ?? []
      assert.isAtLeast(found.length, 2)
      assert.deepStrictEqual((yield* list({ [field]: value }, 100)).data.map(idOf), found, field)
      const pages: Array<unknown> = []
      for (let after: string | null = EXTREME; after !== null;) {
        const page: EmailLogQuery.Page = yield* list({ [field]: value, after }, 2)
        assert.isTrue(page.data.length === 2 || !page.has_more)
        pages.push(...page.data.map(idOf))
        after = page.next_cursor
      }
      assert.deepStrictEqual(pages, found, field)
    }
  })
})
const EXTREME = `msg_7${"z".repeat(25)}`

layer(Database.layerFresh, { excludeTestServices: true })("a message of the log", (it) => {
  it.effect("is found only by its account", function* () {
    yield* write(account(1), [message(1)])
    const [own, foreign] = [
      yield* EmailLogQuery.find(account(1), emailId(1)),
      yield* EmailLogQuery.find(account(2), emailId(1)),
    ]
    assert.deepStrictEqual([Option.map(own, idOf), foreign], [Option.some(emailId(1)), Option.none()])
  })

  it.effect("shows its events in order, only to its account", function* () {
    const sql = yield* Sql
    const meta = { actor: { type: "system", id: null }, schema_version: 1 }
    for (const [version, type] of [
      [3, "EmailDelivered"],
      [2, "EmailDeferred"],
    ] as const)
      yield* sql`INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
          VALUES (nextval('event_position'), ${account(1)}, ${emailId(1)}, ${version}, 'email', ${type}, ${`evt_${version}`},
            '{"n": 1}', ${sql.json(meta)}, '2026-11-21T12:00:00.123Z')`
    const events = yield* EmailLogQuery.events(account(1), emailId(1))
    assert.deepStrictEqual(
      events.map(({ recorded_at, type, version }) => [version, type, recorded_at]),
      [
        [1, "EmailQueued", message(1).created_at],
        [2, "EmailDeferred", "2026-11-21T12:00:00.123Z"],
        [3, "EmailDelivered", "2026-11-21T12:00:00.123Z"],
      ],
    )
    assert.deepStrictEqual(yield* EmailLogQuery.events(account(2), emailId(1)), [])
  })
})
