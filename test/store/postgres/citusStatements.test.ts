import * as MigrationFiles from "@waybill/store/database/MigrationFiles"
import { Effect } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { refusals, type Functions } from "./citusRefusals.ts"
import { readAll } from "./sqlTexts.ts"

const REASONS: Readonly<Record<string, string>> = {
  "AdmissionStatement.statement": "runs in a cell with a server for itself",
  "LogImport.write": "is a part of an import, which may wait for a node that is away",
  "Rearm.insertRows": "is a part of an import, too",
  "Swap.swap": "renames tables, which needs every node",
}

/** Changes of tables that Citus refuses once they are in a cell on a node. */
const REFUSED_CHANGES = [
  /\bSET (?:STATISTICS|STORAGE)\b/iu,
  /\bRENAME CONSTRAINT\b/iu,
  /\bCREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER\b/iu,
  /\bDETACH PARTITION \S+ CONCURRENTLY\b/iu,
  /\bADD COLUMN\b[^,;]*\b(?:CHECK|REFERENCES|UNIQUE|PRIMARY KEY|AS IDENTITY)\b/iu,
  // Several changes in one statement.
  /\bALTER TABLE\b[^;]*,\s*ADD CONSTRAINT\b|\bADD CONSTRAINT\b[^;]*,\s*(?:ADD|DROP|ALTER)\b/iu,
]
const isRefusedChange = (text: string): boolean => REFUSED_CHANGES.some((refused) => refused.test(text))

const functionsOf = Effect.gen(function* () {
  const sql = yield* Sql
  const rows = yield* Effect.orDie(sql<{
    readonly name: string
    readonly mutable: boolean
    readonly volatile: boolean
  }>`
    SELECT proname AS name, bool_and(provolatile <> 'i') AS mutable, bool_and(provolatile = 'v') AS volatile FROM pg_proc
    WHERE pronamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace) GROUP BY proname`)
  const tables = yield* Effect.orDie(sql<{ readonly name: string }>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`)
  return {
    // Only its variants for times without a zone are immutable.
    mutable: new Set(["date_trunc", ...rows.flatMap(({ mutable, name }) => (mutable ? [name] : []))]),
    volatile: new Set(rows.flatMap(({ name, volatile }) => (volatile ? [name] : []))),
    cellTables: new Set(tables.map(({ name }) => name)),
  } satisfies Functions
})

layer(Database.layerFresh, { excludeTestServices: true })("what Citus refuses on a cell of another node", (it) => {
  it.effect("is in no statement of the store", function* () {
    const functions = yield* functionsOf
    const texts = readAll()
    assert.isAbove(texts.length, 500)
    const refused = texts.flatMap(({ name, text }) =>
      refusals(text, functions).map((reason) => `${name} ${reason}: ${text.slice(0, 120)}`),
    )
    assert.deepStrictEqual(
      refused.filter((each) => REASONS[each.split(" ")[0] ?? ""] === undefined),
      [],
    )
    // A reason that is no longer needed is removed.
    assert.deepStrictEqual(
      Object.keys(REASONS).filter((name) => !refused.some((each) => each.startsWith(`${name} `))),
      [],
    )
  })

  it.effect("is in no migration of the tables of accounts", function* () {
    // The first one makes the tables, before Citus has them.
    const [, ...later] = yield* Effect.promise(() => MigrationFiles.read())
    const changes = later.flatMap((file) => MigrationFiles.at(file, "every"))
    assert.deepStrictEqual(changes.filter(isRefusedChange), [])
    assert.isFalse(
      isRefusedChange("ALTER TABLE content ADD COLUMN n int NOT NULL DEFAULT 0; CREATE INDEX a ON content (n)"),
    )
    for (const change of [
      "ALTER TABLE content ALTER COLUMN bytes SET STATISTICS 0",
      "ALTER TABLE content ADD COLUMN n int CHECK (n > 0)",
      "ALTER TABLE content ADD COLUMN n int, ADD CONSTRAINT content_n CHECK (n > 0)",
      "ALTER TABLE content RENAME CONSTRAINT a TO b",
    ])
      assert.isTrue(isRefusedChange(change), change)
  })

  const examples: ReadonlyArray<readonly [statement: string, reason: string | undefined]> = [
    ["UPDATE outbox SET ready = true WHERE id = $1 RETURNING id", undefined],
    ["UPDATE outbox SET ready = true RETURNING to_char(available_at, 'YYYY')", "returns to_char"],
    ["WITH o AS (UPDATE outbox SET ready = true RETURNING *) SELECT to_char(available_at, 'YYYY') FROM o", undefined],
    ["UPDATE outbox SET lease_until = now() + make_interval(secs => $1) WHERE id = $1", undefined],
    ["UPDATE outbox SET lease_until = lease_until + interval '1 minute'", "adds to a time of a row"],
    ["UPDATE outbox SET payload = jsonb_build_object('lost', attempt)", "changes rows with jsonb_build_object"],
    ["UPDATE outbox SET available_at = CASE WHEN ready THEN now() END", "changes rows with a choice"],
    ["UPDATE outbox SET available_at = now() + make_interval(secs => random())", "changes rows with random"],
    ["WITH r AS (SELECT random() AS n) UPDATE outbox SET attempt = r.n FROM r", "changes rows with random"],
    ["DELETE FROM events WHERE position = nextval('event_position')", "changes rows with nextval"],
    ["WITH e AS (INSERT INTO events SELECT nextval('event_position') RETURNING 1 AS one) SELECT 1", undefined],
    [
      "SELECT position FROM events JOIN event_position ON true",
      "uses locks, jobs or windows of the server beside a cell",
    ],
    [
      "INSERT INTO events (type) VALUES ($1) ON CONFLICT (id) DO UPDATE SET recorded_at = now()",
      "updates a conflicting",
    ],
    ["INSERT INTO secrets SELECT * FROM unnest($1::text[]) ON CONFLICT (id) DO NOTHING RETURNING id", undefined],
    ["INSERT INTO secrets SELECT * FROM unnest($1::text[]) ON CONFLICT (id) DO UPDATE SET id = $1", "uses a value"],
    [
      "WITH i AS (INSERT INTO secrets SELECT * FROM unnest($1) ON CONFLICT (id) DO UPDATE SET id = $1) SELECT 1",
      undefined,
    ],
    ["INSERT INTO content (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET n = (SELECT 1)", "updates a conflicting"],
    ["INSERT INTO email_stats SELECT id, now() FROM email_log", "selects from the same cell"],
    ["WITH l AS (SELECT id, now() FROM email_log) INSERT INTO email_stats SELECT * FROM l", undefined],
    ["DELETE FROM users WHERE NOT EXISTS (SELECT 1 FROM members WHERE user_id = users.id)", "changes a home table"],
    ["INSERT INTO users SELECT user_id FROM members", undefined],
    ["LOCK TABLE events IN SHARE MODE", "locks a table on every node"],
    ["LOCK TABLE log_epochs IN SHARE MODE", undefined],
    [
      "WITH h AS (SELECT o.id FROM s JOIN outbox o ON o.id = s.id FOR UPDATE OF o), i AS (INSERT INTO events SELECT 1) SELECT 1",
      "locks rows of a join",
    ],
    [
      "SELECT account_id FROM accounts JOIN pg_locks ON true",
      "uses locks, jobs or windows of the server beside a cell",
    ],
    ["SELECT account_id FROM accounts JOIN rate_windows ON true", "uses locks, jobs or windows of the server"],
  ]
  for (const [statement, reason] of examples)
    it.effect(`is ${reason === undefined ? "not seen in" : "seen in"}: ${statement}`, function* () {
      const found = refusals(statement, yield* functionsOf)
      if (reason === undefined) assert.deepStrictEqual(found, [])
      else assert.include(found.join("; "), reason)
    })
})
