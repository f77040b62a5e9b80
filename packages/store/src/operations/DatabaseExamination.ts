import type { TransportChoice } from "@waybill/domain/domain/DomainState"
import { Clock, Data, Duration, Effect, Redacted, Result } from "effect"
import pg from "pg"
import { CellKeys, type CellKeysShape, type SealedUrl } from "../routing/CellKeys.ts"
import type * as NodeCell from "../cells/NodeCell.ts"
import * as CellName from "../routing/CellName.ts"
import * as Session from "../database/Session.ts"
import { NODE_DEAD_AFTER } from "../feed/EventKinds.ts"
import * as ExaminedCell from "./ExaminedCell.ts"
import * as ExaminedKeys from "./ExaminedKeys.ts"
import * as Migrations from "../database/Migrations.ts"

/** Time limit of one query. */
export const QUERY_TIMEOUT_MS = 5_000
/**
 * Number of clock comparisons. The one with the shortest round trip counts, because its error is at most half of that.
 */
export const TIME_SAMPLES = 5

/** Extensions that migrations create. They belong to Postgres, but some systems put them in a separate package. */
export const EXTENSIONS = ["btree_gin", "pg_trgm"]

export interface ExaminedNode {
  readonly id: string
  readonly release: string
  readonly lacks: ReadonlyArray<string>
}

/** Findings about the database for `waybill doctor`. Examining changes nothing. */
export interface DatabaseFindings {
  /** Number of `server_version_num`: 180004 is 18.4. */
  readonly version: number
  readonly schema: Migrations.Status
  /** The running nodes, with the event kinds of other nodes that each cannot read. */
  readonly nodes: ReadonlyArray<ExaminedNode>
  /** Whether the server is a standby or set to read-only. */
  readonly readOnly: boolean
  /** Settings that are off and may therefore lose confirmed commits. */
  readonly unsafeSettings: ReadonlyArray<string>
  /** Extensions of `EXTENSIONS` that the server does not have. */
  readonly missingExtensions: ReadonlyArray<string>
  /** Milliseconds by which the database's clock is ahead of this machine's, and the maximum error of that. */
  readonly skew_ms: number
  readonly skew_within_ms: number
  /** Time of the newest event, by the database's clock. */
  readonly newest_fact_ms: number | null
  /** Transports that domains use instead of the instance's. */
  readonly transports: ReadonlyArray<Exclude<TransportChoice, null>>
  /** Number of domains whose mail is tracked. */
  readonly tracked: number
  /** Number of domains with their own tracking host name. */
  readonly tracking_domains: number
  /** Keys that sign the domains' mail. */
  readonly keys: ReadonlyArray<ExaminedKeys.ExaminedKey>
  /** Cells that answer, and those that do not, of which nothing else is known. */
  readonly cells: ReadonlyArray<ExaminedCell.ExaminedCell>
  readonly unreachable_cells: ReadonlyArray<UnreachableCell>
}

export interface UnreachableCell {
  readonly name: CellName.CellName
  readonly message: string
}

/** The database cannot be reached or queried. `code` is Postgres' (28P01) or the system's (ECONNREFUSED). */
export class Unreachable extends Data.TaggedError("Unreachable")<{ readonly message: string; readonly code: string }> {}

export const examine = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const keys = yield* CellKeys
    const client = yield* connect(url)
    const query = queryOn(client)
    const [server] = yield* query<{ version: number; read_only: boolean; settings: Record<string, string> }>(`
      SELECT current_setting('server_version_num')::int AS version,
        pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS read_only,
        json_object_agg(name, setting) FILTER (WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes')) AS settings
      FROM pg_settings`)
    const installable = yield* query<{ name: string }>("SELECT name FROM pg_available_extensions")
    const time = yield* compareClocks(query)
    const schema = yield* Effect.catchTag(Migrations.check(url), "ConnectFailed", (failed) =>
      Effect.fail(unreachable(failed)),
    )
    const [log] = yield* query<{ events: boolean; domains: boolean; nodes: boolean; cells: boolean; moves: boolean }>(
      "SELECT to_regclass('events') IS NOT NULL AS events, to_regclass('domains') IS NOT NULL AS domains, to_regclass('nodes') IS NOT NULL AS nodes, to_regclass('cells') IS NOT NULL AS cells, EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('account_cells') AND attname = 'left_cell') AS moves",
    )
    const nodes = log?.nodes ? yield* query<ExaminedNode>(NODES, [Duration.toSeconds(NODE_DEAD_AFTER)]) : []
    const others = log?.cells ? yield* query<OtherCell>(OTHERS, [CellName.FIRST]) : []
    const nodes_of_cells = others.some(({ group }) => group !== null) ? yield* query<NodeCell.Node>(NODES_OF_CELLS) : []
    const strays = log?.moves ? yield* query<{ cell: string; account_id: string }>(STRAYS) : []
    const tablesOf = (name: string): CellTables => ({
      events: log?.events ?? false,
      domains: log?.domains ?? false,
      strays: strays.flatMap(({ account_id, cell }) => (cell === name ? [account_id] : [])),
    })
    // Without the first cell nothing works, so that its failure is that of the database.
    const first = yield* examineCell(query, CellName.FIRST, tablesOf(CellName.FIRST))
    const asked = yield* Effect.forEach(
      others,
      (other) =>
        examineOther(urlOf(url, keys, other, nodes_of_cells), other.name, other.address !== null, tablesOf(other.name)),
      {
        concurrency: CONCURRENT_CELLS,
      },
    )
    const unreachable_cells = asked.flatMap((each) => (Result.isFailure(each) ? [each.failure] : []))
    const found = [first, ...asked.flatMap((each) => (Result.isSuccess(each) ? [each.success] : []))]
    const newest = found.flatMap(({ newest }) => newest.map(({ at }) => at))
    const tracked = found.flatMap((each) => each.tracked)
    return {
      version: server?.version ?? 0,
      schema,
      nodes,
      readOnly: server?.read_only ?? false,
      unsafeSettings: Object.entries(server?.settings ?? {}).flatMap(([name, value]) =>
        value === "off" ? [name] : [],
      ),
      missingExtensions: EXTENSIONS.filter((each) => !installable.some(({ name }) => name === each)),
      ...time,
      newest_fact_ms: newest.length === 0 ? null : Math.max(...newest),
      transports: [...new Set(found.flatMap(({ chosen }) => chosen.map(({ transport }) => transport)))],
      tracked: tracked.reduce((sum, { n }) => sum + n, 0),
      tracking_domains: tracked.reduce((sum, { names }) => sum + names, 0),
      keys: found.flatMap(({ keys }) => keys),
      cells: found.map(({ cell }) => cell),
      unreachable_cells,
    } satisfies DatabaseFindings
  }).pipe(Effect.scoped)

const CONCURRENT_CELLS = 8

const queryOn =
  (client: pg.Client): ExaminedKeys.RunQuery<Unreachable> =>
  <Row extends object>(text: string, values: ReadonlyArray<unknown> = []) =>
    Effect.tryPromise({ try: () => client.query<Row>(text, [...values]), catch: unreachable }).pipe(
      Effect.map(({ rows }) => rows),
    )

/** Which tables a cell has, and the accounts with rows there that are in another cell. */
interface CellTables {
  readonly events: boolean
  readonly domains: boolean
  readonly strays: ReadonlyArray<string>
}

const examineCell = Effect.fnUntraced(function* (
  query: ExaminedKeys.RunQuery<Unreachable>,
  name: CellName.CellName,
  tables: CellTables,
) {
  const newest = tables.events ? yield* query<{ at: number }>(NEWEST) : []
  if (!tables.domains) return { ...NOTHING, newest, cell: { ...UNKNOWN_LOAD, name } }
  const chosen = yield* query<{ transport: Exclude<TransportChoice, null> }>(CHOSEN, [tables.strays])
  const tracked = yield* query<{ n: number; names: number }>(TRACKED, [tables.strays])
  const cell = yield* ExaminedCell.read(query, name, tables.strays)
  return { cell, newest, chosen, tracked, keys: yield* ExaminedKeys.read(query, tables.strays) }
})

const UNKNOWN_LOAD = { pending: [], lag_s: 0, overdue: 0 } as const
const NOTHING = { newest: [], chosen: [], tracked: [], keys: [] } as const

/** Examines a cell on a connection of its own, because a statement that hangs blocks its connection. */
const examineOther = (
  url: Effect.Effect<Redacted.Redacted, Unreachable>,
  name: CellName.CellName,
  isServer: boolean,
  tables: CellTables,
) =>
  Effect.gen(function* () {
    const address = yield* url
    const { pending } = isServer ? yield* Migrations.check(address) : UNKNOWN_LOAD
    // Its tables may not be those of this release.
    if (pending.length > 0) return { ...NOTHING, cell: { ...UNKNOWN_LOAD, name, pending } }
    return yield* examineCell(queryOn(yield* connect(address)), name, tables)
  }).pipe(
    Effect.scoped,
    Effect.mapError(({ message }): UnreachableCell => ({ name, message })),
    Effect.result,
  )

interface OtherCell {
  readonly name: CellName.CellName
  readonly identity: string | null
  readonly address: SealedUrl | null
  readonly group: number | null
}

/** An older schema has no addresses. */
const OTHERS = `SELECT name, to_jsonb(cells) ->> 'identity' AS identity, nullif(to_jsonb(cells) -> 'address', 'null') AS address,
  (to_jsonb(cells) ->> 'node_group')::int AS group FROM cells WHERE name <> $1 ORDER BY name`

const urlOf = (
  url: Redacted.Redacted,
  keys: CellKeysShape,
  { address, group, identity, name }: OtherCell,
  nodes: ReadonlyArray<NodeCell.Node>,
): Effect.Effect<Redacted.Redacted, Unreachable> => {
  const node = nodes.find((each) => each.group === group)
  if (node !== undefined) return Effect.succeed(CellName.nodeUrlOf(url, name, node.host, node.port))
  return address === null || identity === null
    ? Effect.succeed(CellName.urlOf(url, name))
    : Effect.try({ try: () => keys.open(identity, address), catch: unreachable })
}

const NODES_OF_CELLS =
  "SELECT groupid AS \"group\", nodename AS host, nodeport AS port FROM pg_dist_node WHERE noderole = 'primary'"
const NEWEST = "SELECT extract(epoch FROM recorded_at)::float8 * 1000 AS at FROM events ORDER BY position DESC LIMIT 1"
const CHOSEN =
  "SELECT DISTINCT record->>'transport' AS transport FROM domains WHERE NOT removed AND record->>'transport' IS NOT NULL AND account_id <> ALL($1::text[])"
const TRACKED =
  "SELECT count(*) FILTER (WHERE record ? 'tracking')::int AS n, count(*) FILTER (WHERE record ? 'tracking_domain')::int AS names FROM domains WHERE NOT removed AND account_id <> ALL($1::text[])"

const STRAYS =
  "SELECT account_id, CASE step WHEN 'cleaning' THEN left_cell ELSE moving_to END AS cell FROM account_cells WHERE moving_to IS NOT NULL"

const NODES = `
  WITH live AS (SELECT * FROM nodes WHERE beat_at >= now() - make_interval(secs => $1::float8))
  SELECT id, release, ARRAY(
    SELECT DISTINCT kind FROM live AS other CROSS JOIN unnest(other.kinds) AS kind WHERE NOT kind = ANY(live.kinds)
    ORDER BY kind) AS lacks
  FROM live ORDER BY id`

const connect = (url: Redacted.Redacted) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const client = new pg.Client({
          connectionString: Redacted.value(url),
          application_name: "waybill doctor",
          connectionTimeoutMillis: Session.CONNECT_TIMEOUT_MS,
          query_timeout: QUERY_TIMEOUT_MS,
        })
        client.on("error", () => {})
        await client.connect()
        return client
      },
      catch: unreachable,
    }),
    (client) => Effect.ignoreCause(Effect.promise(() => client.end())),
  )

const compareClocks = (query: (text: string) => Effect.Effect<ReadonlyArray<{ now: number }>, Unreachable>) =>
  Effect.gen(function* () {
    let best = { skew_ms: 0, skew_within_ms: Infinity }
    for (let sample = 0; sample < TIME_SAMPLES; sample++) {
      const before = yield* Clock.currentTimeMillis
      const [answer] = yield* query("SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now")
      const after = yield* Clock.currentTimeMillis
      const within = (after - before) / 2
      // Both clocks are rounded to milliseconds.
      const measured = {
        skew_ms: Math.round((answer?.now ?? 0) - (before + within)),
        skew_within_ms: Math.ceil(within) + 1,
      }
      if (measured.skew_within_ms < best.skew_within_ms) best = measured
    }
    return best
  })

const unreachable = (cause: unknown): Unreachable =>
  new Unreachable({
    // If several addresses were tried, Node.js gives an error without a message.
    message: messageOf(cause),
    code: cause instanceof Error && "code" in cause ? String(cause.code) : "",
  })

const messageOf = (cause: unknown): string => {
  if (cause instanceof AggregateError) return cause.errors.map(messageOf).join("; ")
  return cause instanceof Error ? cause.message : String(cause)
}
