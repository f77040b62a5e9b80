import * as Network from "@waybill/domain/values/Network"
import { Data, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Postgres } from "../../installation/Postgres.ts"
import * as Settings from "../../settings/Settings.ts"
import * as Logs from "../../observability/Logs.ts"
import { InjectedFaults } from "../../requests/InjectedFaults.ts"
import * as Instructions from "./Instructions.ts"
import * as DataTemplate from "./DataTemplate.ts"
import { freePorts } from "./freePorts.ts"

const NAME = "waybill-temporary-"
/** Webhooks of a test suite are on the same machine. */
const THIS_MACHINE = ["127.0.0.0/8", "::1/128"].map((network) => Network.Network.make(network))

/** A step before the start failed: the folder of temporary files or of the template cannot be used. */
class NotPrepared extends Data.TaggedError("NotPrepared")<{ readonly message: string }> {}

const prepare = <A>(body: () => Promise<A>) =>
  Effect.tryPromise({
    try: body,
    catch: (cause) => new NotPrepared({ message: cause instanceof Error ? cause.message : String(cause) }),
  })

const cache = Flag.String("cache").pipe(
  Flag.withDescription("Folder of the template that instances are copied from; in the user's cache folder by default"),
  Flag.optional,
)

/** Runs an instance on a copy of the template, which is removed at the end. */
const run = Effect.fnUntraced(function* (
  loaded: Settings.Settings,
  cacheFolder: string,
  controls: Instructions.Controls,
) {
  // Root's server is another user, who reaches the folder through the folder of temporary files only.
  const data = yield* Effect.acquireRelease(
    prepare(() => mkdtemp(join(tmpdir(), NAME))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })),
  )
  const [port = 0, smtpPort = 0] = yield* prepare(() => freePorts(2))
  const settings: Settings.Settings = {
    ...loaded,
    data,
    databaseUrl: Option.none(),
    databaseReplicaUrl: Option.none(),
    instanceKey: Option.none(),
    host: "127.0.0.1",
    port,
    smtpPort,
    baseUrl: Option.none(),
    // Tests follow tracked links on this machine.
    trackingUrl: Option.orElseSome(loaded.trackingUrl, () => `http://127.0.0.1:${port}`),
    transport: "capture",
    webhookAllowNetworks: THIS_MACHINE,
  }
  const template = yield* DataTemplate.find(settings, cacheFolder)
  // The code is loaded while the template is copied and Postgres starts.
  const { postgres, service } = yield* Effect.all(
    {
      postgres: Effect.andThen(
        prepare(() => DataTemplate.copy(template, data)),
        Postgres.temporary(settings),
      ),
      service: Effect.promise(() => import("./TemporaryService.ts")),
    },
    { concurrency: "unbounded" },
  )
  return yield* service.run(settings, postgres, controls)
}, Effect.scoped)

export const temporary = Command.make("temporary", { cache }, ({ cache }) =>
  Effect.flatMap(Settings.load, (settings) => {
    const controls = Instructions.controls()
    return Effect.andThen(
      Instructions.listen(controls),
      run(settings, Option.getOrElse(cache, DataTemplate.defaultCache), controls),
    ).pipe(
      Effect.scoped,
      Effect.provideService(InjectedFaults, controls.faults),
      Effect.provide(Logs.layer(settings.logLevel)),
    )
  }),
).pipe(
  Command.withDescription(
    "Run an instance for tests: on free ports, until standard input ends, with nothing left behind. Prints its address and keys as JSON",
  ),
)
