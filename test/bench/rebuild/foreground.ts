import type * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import { Redacted } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Processes from "../accept/Processes.ts"
import { tenant } from "../accept/tenant.ts"
import * as Waybill from "../accept/Waybill.ts"
import * as Measure from "../report/Measure.ts"

const CONNECTIONS = 4
const WARM_UP_MILLIS = 3_000
const ROUND_MILLIS = 1_500

export interface Foreground {
  readonly idle: ReadonlyArray<number>
  readonly rebuilding: ReadonlyArray<number>
  /** Ratio of the p99 with and without a rebuild, of each pair of neighbouring rounds. */
  readonly p99Share: Measure.Spread
}

/** Sends from a few connections, in turns with and without a throttled rebuild beside them. */
export const foreground = async (
  postgres: EmbeddedPostgres.Running,
  url: Redacted.Redacted,
  options: { readonly throttle: number; readonly rounds: number },
): Promise<Foreground> => {
  const home = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-rebuild-"))
  const keys = await tenant(url, CONNECTIONS)
  const load = Processes.load()
  const service = await Waybill.start(Redacted.value(url), home)
  try {
    await Waybill.addDomain(service, keys[0] ?? "")
    const round = async (millis: number) => (await load.run({ port: service.port, keys, millis })).latencies
    await round(WARM_UP_MILLIS)
    const idle: Array<number> = []
    const rebuilding: Array<number> = []
    const shares: Array<number> = []
    for (let nth = 0; nth < options.rounds; nth++) {
      const without = await round(ROUND_MILLIS)
      // The rebuild continues where the last round ended it, so that it has events to fold in every round.
      const replay = await Processes.start("../rebuild/throttled.ts", {
        DATABASE_URL: Redacted.value(url),
        THROTTLE: String(options.throttle),
      })
      const during = await round(ROUND_MILLIS).finally(replay.stop)
      idle.push(...without)
      rebuilding.push(...during)
      shares.push(Measure.quantile(during, 0.99) / Measure.quantile(without, 0.99))
    }
    return { idle, rebuilding, p99Share: Measure.spread(shares) }
  } finally {
    load.stop()
    await service.stop()
    await fs.rm(home, { recursive: true, force: true })
  }
}
