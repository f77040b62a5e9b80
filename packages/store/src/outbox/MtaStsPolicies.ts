import { PgClient, PgTypes } from "@effect/sql-pg"
import { Duration, Effect } from "effect"
import { iso } from "../postgres/Iso.ts"

/** RFC 8461 §3.3 suggests once a day; one that lives shorter than two days is asked for at half its life. */
export const REFRESH_EVERY = Duration.days(1)
/** A policy that lives less long than twice this is asked for when mail goes there, and not before. */
export const MIN_REFRESH = Duration.hours(1)
/** After a failure, and while one is under way. */
export const RETRY_AFTER = Duration.hours(3)
/** Domains that no mail has gone to for this long are not asked; their policies hold till they end. */
export const RECENTLY = Duration.days(30)
/** Policies that one run renews. */
export const MAX_DUE = 1_000
/** Policies of all domains; those whose domains got no mail for the longest time go first. */
export const MAX_POLICIES = 100_000
/** Clocks of nodes may differ: what has ended is kept for a while. */
export const KEPT_AFTER_END = Duration.days(1)
/** How exactly it is known when mail last went to a domain. */
const USED_EVERY = Duration.days(1)

interface Held {
  readonly id: string
  readonly policy: {
    readonly mode: "enforce" | "testing" | "none"
    readonly mx: ReadonlyArray<string>
    readonly max_age_ms: number
  }
  readonly expires_at: number
}

/** For whoever asks domains for their policies. To be found is to be used. */
export const keeper = Effect.map(PgClient.PgClient, (sql) => ({
  find: Effect.fn("MtaStsPolicies.find")(function* (domain: string) {
    const rows = yield* Effect.orDie(sql<Held>`
      WITH used AS (
        UPDATE mta_sts_policies SET used_at = now()
        WHERE domain = ${domain} AND used_at < now() - ${interval(sql, USED_EVERY)}
      )
      SELECT id, policy, (extract(epoch FROM expires_at) * 1000)::float8 AS expires_at
      FROM mta_sts_policies WHERE domain = ${domain}`)
    return rows[0]
  }),
  put: Effect.fn("MtaStsPolicies.put")(function* (domain: string, { expires_at, id, policy }: Held) {
    const life = Duration.times(Duration.millis(policy.max_age_ms), 0.5)
    const next = Duration.min(REFRESH_EVERY, Duration.max(MIN_REFRESH, life))
    yield* Effect.orDie(sql`
      INSERT INTO mta_sts_policies (domain, id, policy, expires_at, refresh_at)
      VALUES (${domain}, ${id}, ${PgTypes.jsonb(policy)}, to_timestamp(${expires_at / 1000}::float8),
        now() + ${interval(sql, next)})
      ON CONFLICT (domain) DO UPDATE SET id = excluded.id, policy = excluded.policy, fetched_at = excluded.fetched_at,
        expires_at = excluded.expires_at, refresh_at = excluded.refresh_at`)
  }),
}))

export interface Due {
  readonly domain: string
  readonly mode: Held["policy"]["mode"]
  readonly expires_at: string
}

/** Policies to be renewed. They are nobody else's for a while: whoever takes them renews them, or they come again. */
export const due = Effect.fn("MtaStsPolicies.due")(function* () {
  const sql = yield* PgClient.PgClient
  return yield* Effect.orDie(sql<Due>`
    UPDATE mta_sts_policies SET refresh_at = now() + ${interval(sql, RETRY_AFTER)}
    WHERE domain = ANY(ARRAY(
      SELECT domain FROM mta_sts_policies
      WHERE refresh_at <= now() AND expires_at > now() AND used_at > now() - ${interval(sql, RECENTLY)}
      ORDER BY refresh_at LIMIT ${MAX_DUE}::int FOR UPDATE SKIP LOCKED))
    RETURNING domain, policy ->> 'mode' AS mode, ${iso(sql, "expires_at")} AS expires_at`)
})

/** For cron. Answers how many there were. */
export const sweep = Effect.fn("MtaStsPolicies.sweep")(function* (most = MAX_POLICIES) {
  const sql = yield* PgClient.PgClient
  const gone = yield* Effect.orDie(sql`
    DELETE FROM mta_sts_policies
    WHERE expires_at < now() - ${interval(sql, KEPT_AFTER_END)} OR domain = ANY(ARRAY(
      SELECT domain FROM mta_sts_policies ORDER BY used_at DESC, domain OFFSET ${most}::int))
    RETURNING domain`)
  return gone.length
})

const interval = (sql: PgClient.PgClient, duration: Duration.Duration) =>
  sql`make_interval(secs => ${Duration.toSeconds(duration)}::float8)`
