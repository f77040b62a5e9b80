// npm run bench -- start: from the command to the first answer of /readyz, beside the start of Postgres alone.
import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Waybill from "./accept/Waybill.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const ROUNDS = 3

/** Seconds until the service answers for the first time. */
const service = async (folder: string): Promise<number> => {
  const began = performance.now()
  const started = await Waybill.startBundled("", folder, [])
  const seconds = (performance.now() - began) / 1000
  await started.stop()
  return seconds
}

/** Seconds until Postgres alone accepts connections, started by the same code in this process. */
const postgres = async (folder: string): Promise<number> => {
  const began = performance.now()
  return Effect.runPromise(
    Effect.scoped(Effect.map(EmbeddedPostgres.start({ dataDir: folder }), () => (performance.now() - began) / 1000)),
  )
}

const home = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-start-"))
try {
  // As root the server runs as another user, who needs access to the folder.
  await fs.chmod(home, 0o711)
  // The first start of a checkout builds the dashboard.
  await service(path.join(home, "first"))
  const environment = await Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(TemporaryServer.temporaryServer(), (server) =>
        Effect.promise(() => TemporaryServer.environment(server)),
      ),
    ),
  )
  const rounds: Array<Readonly<Record<"empty" | "postgres_empty" | "again" | "postgres_again", number>>> = []
  for (let round = 0; round < ROUNDS; round++) {
    const [ours, bare] = [path.join(home, `service-${round}`), path.join(home, `postgres-${round}`)]
    rounds.push({
      empty: await service(ours),
      postgres_empty: await postgres(bare),
      again: await service(ours),
      postgres_again: await postgres(bare),
    })
  }
  const of = (pick: (round: (typeof rounds)[number]) => number) => Measure.spread(rounds.map(pick))
  const empty = of((round) => round.empty)
  const again = of((round) => round.again)
  const findings: ReadonlyArray<Measure.Finding> = [
    { what: "start on an empty folder", measured: empty, unit: "s" },
    {
      what: "the same against initdb and start of Postgres alone",
      measured: of((round) => round.empty / round.postgres_empty),
      unit: "times",
    },
    { what: "start on what is there", measured: again, unit: "s" },
    {
      what: "the same against the start of Postgres alone",
      measured: of((round) => round.again / round.postgres_again),
      unit: "times",
    },
  ]
  Measure.answer(
    { environment, rounds },
    [
      `From \`waybill start\` to the first answer of /readyz, ${ROUNDS} rounds.`,
      TemporaryServer.describe(environment),
      "",
      Measure.findingsTable(findings),
    ].join("\n"),
    findings,
  )
} finally {
  await fs.rm(home, { recursive: true, force: true })
}
