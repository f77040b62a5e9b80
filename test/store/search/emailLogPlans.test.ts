import * as EmailLogChoice from "@waybill/store/search/EmailLogChoice"
import * as EmailLogFilter from "@waybill/store/search/EmailLogFilter"
import * as EmailLogPlan from "@waybill/store/search/EmailLogPlan"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import * as EmailLogRecord from "@waybill/store/readmodels/emails/EmailLogRecord"
import * as PageBytes from "@waybill/store/feed/PageBytes"
import * as EmailLogSource from "@waybill/store/search/EmailLogSource"
import * as EmailLogWalk from "@waybill/store/search/EmailLogWalk"
import * as EmailWords from "@waybill/store/search/EmailWords"
import * as EmailFacets from "@waybill/store/readmodels/emails/EmailFacets"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type { Address } from "@waybill/domain/values/Address"
import * as EmailLog from "@waybill/store/readmodels/emails/EmailLog"
import * as IdKey from "@waybill/store/postgres/IdKey"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Result } from "effect"
import type { Statement } from "effect/sql"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import { id, queued } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import { FILTERS } from "../../bench/logs/filters.ts"
import { emailId, write } from "../../bench/logs/mail.ts"
import { account } from "./emailLogRows.ts"

/** Rare values occur only in the first ten thousand messages. */
const [SMALL, LARGE] = [10_000, 30_000]
const ACCOUNTS = { [SMALL]: account(1), [LARGE]: account(2) }
const LIMIT = 20
const NOW = Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z")

interface Plan {
  readonly "Node Type": string
  readonly "Index Name"?: string
  readonly "Relation Name"?: string
  readonly "Shared Hit Blocks": number
  readonly "Shared Read Blocks": number
  readonly Plans?: ReadonlyArray<Plan>
}
const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

const explain = Effect.fnUntraced(function* (statement: Statement.Fragment) {
  const sql = yield* Sql
  const [row] = yield* sql<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>`
    EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`
  const plan = row?.["QUERY PLAN"][0]?.Plan
  assert(plan !== undefined)
  const used = nodes(plan)
  return {
    scans: used.flatMap((node) => (node["Node Type"] === "Seq Scan" ? [node["Relation Name"] ?? ""] : [])),
    indexes: used.flatMap((node) => node["Index Name"] ?? []),
    blocks: plan["Shared Hit Blocks"] + plan["Shared Read Blocks"],
  }
})

const searched = (sql: Sql, text: string, where: EmailWords.Part["where"]) =>
  EmailWords.partStatement(sql, account(2), EmailWords.part(text, where), sql.literal("true"), 200)

/** Returns the first statement of a search for each source it might choose. */
const firstSteps = Effect.fnUntraced(function* (name: string, size: keyof typeof ACCOUNTS) {
  const sql = yield* Sql
  const account_id = ACCOUNTS[size] ?? account(0)
  const nth = Math.floor(size / 2)
  const filter = EmailLogFilter.filterOf(
    { ...FILTERS[name]?.(nth, emailId(account_id, nth)), account_id, limit: LIMIT },
    Timestamp.fromMillis(Date.now()),
  )
  assert(filter !== undefined)
  const known = {
    facets: yield* EmailFacets.known(sql, filter.range.account, "facets"),
    codes: yield* EmailFacets.known(sql, filter.range.account, "code"),
    unread: [],
  }
  const parts = yield* Effect.forEach(filter.parts, (part) =>
    EmailWords.withPart(sql, account_id, part, sql.literal("true"), EmailLogQuery.MAX_TEXTS),
  )
  const texts = parts.flatMap((found): ReadonlyArray<EmailLogSource.Source> =>
    found === undefined || Object.values(found.terms).every((keys) => keys.length === 0)
      ? []
      : [{ _tag: "Terms", ...found }],
  )
  const sources = [...EmailLogFilter.sourcesOf(filter, known), ...texts]
  return (sources.length === 0 ? [EmailLogSource.all] : sources).map((source) => ({
    source,
    statement: EmailLogWalk.statement(
      sql,
      filter,
      source,
      filter.range,
      EmailLogFilter.isExact(filter) ? LIMIT + 1 : EmailLogPlan.FIRST_CHUNK,
      { messages: LIMIT + 1, bytes: PageBytes.MAX_PAGE_BYTES, isCount: false },
    ),
  }))
})

/** Returns the indexes that the lists of a source are read from. */
const indexesOf = (source: EmailLogSource.Source): ReadonlyArray<string> => {
  switch (source._tag) {
    case "All":
      return ["email_log_pkey"]
    case "Accepted":
      return ["events_pkey"]
    case "Key":
      return ["email_key_spans_pkey"]
    case "Common":
      return source.sources.flatMap(indexesOf)
    case "Code":
      return source.codes.length > 0 ? ["email_log_by_code"] : []
    case "Domain":
      return ["email_log_by_domain"]
    case "Terms": {
      const { ids, metadata, recipients, senders, subjects, tags } = source.terms
      return [
        ...(ids.length > 0 ? ["email_log_pkey"] : []),
        ...(senders.length > 0 ? ["email_log_by_from"] : []),
        ...(recipients.length > 0 ? ["email_log_by_to"] : []),
        ...(tags.length > 0 ? ["email_log_by_tag"] : []),
        ...(subjects.length > 0 ? ["email_log_by_subject"] : []),
        ...(metadata.length + recipients.length + tags.length > 0 ? ["email_log_terms_pkey"] : []),
      ]
    }
    case "Status":
      return [
        ...(source.statuses.some(EmailFacets.isListed) ? ["email_log_by_status"] : []),
        ...(source.facets.length > 0 ? ["email_log_by_facets"] : []),
      ]
  }
}

layer(Database.layerFresh, { excludeTestServices: true })("a page of the log", (it) => {
  it.effect(
    "is read from a database with much mail of other accounts",
    function* () {
      const sql = yield* Sql
      yield* write(sql, account(1), 0, SMALL)
      yield* write(sql, account(2), 0, LARGE)
      // An account with mail for many people has many different addresses.
      yield* sql`
        INSERT INTO email_words SELECT id_key(${account(1)}), 'to:visitor' || n || '@example.net', 'visitor' || n || '@example.net'
        FROM generate_series(1, ${LARGE}::int) AS n`
      yield* sql`VACUUM (ANALYZE) email_words`
    },
    180_000,
  )

  for (const name of Object.keys(FILTERS)) {
    it.effect(`by "${name}" reads its index, equally much for a large account and a small one`, function* () {
      const [small, large] = [yield* firstSteps(name, SMALL), yield* firstSteps(name, LARGE)]
      for (const [nth, { source, statement }] of large.entries()) {
        const plan = yield* explain(statement)
        assert.deepStrictEqual(plan.scans, [])
        assert.includeMembers(plan.indexes, [...indexesOf(source)])
        if (source._tag === "Status" && source.statuses.includes("queued"))
          assert.isNotEmpty(plan.indexes.filter((index) => ["outbox_by_account", "outbox_pkey"].includes(index)))
        const twin = small[nth]
        assert(twin !== undefined)
        // Allows for one more level of the trees and different page boundaries.
        const { blocks } = yield* explain(twin.statement)
        assert.isAtMost(plan.blocks, blocks * 1.5 + 40)
      }
    })
  }

  it.effect("finds the one message of a pair, and of two", function* () {
    for (const name of ["metadata, one", "two pairs"]) {
      const [step] = yield* firstSteps(name, LARGE)
      assert.lengthOf(step === undefined ? [] : yield* step.statement, 1, name)
    }
  })

  it.effect("samples its sources in their indexes", function* () {
    const sql = yield* Sql
    const filter = EmailLogFilter.filterOf(
      { account_id: account(2), limit: LIMIT, tag: ["receipt", "spring"], status: ["bounced"] },
      Timestamp.fromMillis(Date.now()),
    )
    assert(filter !== undefined)
    const plan = yield* explain(
      EmailLogSource.samples(
        sql,
        EmailLogFilter.sourcesOf(filter, { facets: [], codes: [], unread: [] }).map(
          (source) => [source, EmailLogChoice.SAMPLE] as const,
        ),
        filter.range,
        filter.order,
      ),
    )
    assert.deepStrictEqual(plan.scans, [])
    assert.includeMembers(plan.indexes, ["email_log_by_tag", "email_log_terms_pkey", "email_log_by_status"])
    assert.isAtMost(plan.blocks, 3 * 30)
  })

  for (const [part, found] of [
    ["haystack", 10],
    ["your order #29995 has", 1],
    ["no such thing", 0],
  ] as const) {
    it.effect(`finds the ${found} subjects that contain "${part}" in the trigram index`, function* () {
      const sql = yield* Sql
      const statement = searched(sql, part, "subject")
      const plan = yield* explain(statement)
      assert.deepStrictEqual(plan.scans, [])
      assert.include(plan.indexes, "email_subjects_by_part")
      assert.isAtMost(plan.blocks, 150)
      assert.lengthOf((yield* statement)[0]?.subjects ?? [], found)
    })
  }

  for (const [name, part, found] of [
    ["that contain ana.rare", EmailWords.part("ana.rare", "recipient"), 1],
    ["that contain user1", EmailWords.part("user1", "recipient"), 11],
    ["that contain nobody@", EmailWords.part("nobody@", "recipient"), 0],
    ["at a provider", EmailWords.atProviders(["proton"]), 1],
    ["at two providers", EmailWords.atProviders(["outlook", "yandex"]), 0],
  ] as const) {
    it.effect(`finds the ${found} addresses ${name} in the trigram index`, function* () {
      const sql = yield* Sql
      const statement = EmailWords.partStatement(sql, account(2), part, sql.literal("true"), 200)
      const plan = yield* explain(statement)
      assert.deepStrictEqual(plan.scans, [])
      assert.include(plan.indexes, "email_words_by_part")
      assert.isAtMost(plan.blocks, 150)
      assert.lengthOf((yield* statement)[0]?.words ?? [], found)
    })
  }

  it.effect("finds the senders with a part in the trigram index, beside recipients and tags", function* () {
    const sql = yield* Sql
    const statement = searched(sql, "old@acme", "anywhere")
    const plan = yield* explain(statement)
    assert.deepStrictEqual(plan.scans, [])
    assert.includeMembers(plan.indexes, ["email_words_by_part", "email_subjects_by_part"])
    assert.isAtMost(plan.blocks, 150)
    assert.deepStrictEqual((yield* statement)[0]?.words, ["from:old@acme.test"])
  })

  it.effect("looks a value up with each name of the account's pairs, and no value that no message has", function* () {
    const sql = yield* Sql
    for (const [text, words] of [
      ["7000", ["metadata:order\n7000"]],
      ["7001", []],
    ] as const) {
      const statement = searched(sql, text, "anywhere")
      const plan = yield* explain(statement)
      assert.deepStrictEqual(plan.scans, [])
      assert.includeMembers(plan.indexes, ["email_words_pkey", "email_log_terms_pkey"])
      assert.isAtMost(plan.blocks, 150)
      assert.deepStrictEqual((yield* statement)[0]?.words, words)
    }
  })

  for (const column of ["facets", "code"] as const) {
    it.effect(`jumps through the index to find each ${column} of an account`, function* () {
      const sql = yield* Sql
      const statement = EmailFacets.knownStatement(sql, IdKey.of(account(2)), column)
      const plan = yield* explain(statement)
      assert.deepStrictEqual([plan.scans, [...new Set(plan.indexes)]], [[], [`email_log_by_${column}`]])
      assert.isAtMost(plan.blocks, 40)
      assert.lengthOf(yield* statement, 3)
    })
  }

  it.effect("is not listed anew when a message is delivered at its first attempt", function* () {
    const sql = yield* Sql
    const [email_id, account_id] = [id("EmailId"), id("AccountId")]
    const accepted = Email.evolve(Email.initial, queued(email_id))
    const outcome = EmailReport.recordDelivered(
      NOW,
      "ana@example.org" as Address,
      DeliveryOutcome.NO_RESPONSE,
    )(accepted)
    const delivered = Result.getOrThrow(outcome).reduce(Email.evolve, accepted)
    const rowOf = (state: Email.State, version: number) =>
      EmailLog.readModel.rows({ account_id, stream_id: email_id, version }, state)[0] as Readonly<
        Record<string, unknown>
      >
    const [before, after] = [rowOf(accepted, 1), rowOf(delivered, 2)]
    const changed = Object.keys(after).filter((column) => after[column] !== before[column])
    assert.deepStrictEqual(changed, ["version", "status"])
    const indexed = yield* sql<{ readonly column: string }>`
      SELECT DISTINCT a.attname AS column FROM pg_index x
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = ANY(x.indkey) WHERE x.indrelid = 'email_log'::regclass`
    assert.isAbove(indexed.length, 5)
    assert.deepStrictEqual(
      indexed.map(({ column }) => column).filter((column) => changed.includes(column)),
      [],
    )
  })

  it.effect("finds a message and its events by their keys", function* () {
    const sql = yield* Sql
    const history = EmailLogRecord.history(sql, sql`${account(2)}`, sql`'msg_x'`)
    const plan = yield* explain(sql`SELECT ${history} AS history`)
    assert.deepStrictEqual([plan.scans, [...new Set(plan.indexes)]], [[], ["events_pkey"]])
  })
})
