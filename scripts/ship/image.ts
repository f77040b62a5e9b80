import { randomBytes } from "node:crypto"
import { freePort } from "../../test/support/process/service.ts"
import { baseFor } from "./baseFor.ts"
import { exercise, isReady } from "./exercise.ts"
import { postgres } from "./postgres.ts"
import type { Run } from "./Run.ts"
import { attempt, demand, run, secondsOf, until, type Words, works } from "./Shell.ts"

const IMAGE = "waybill-ship"
/** stop_grace_period of compose.yaml. */
const SECONDS_TO_STOP = 40
/** The restrictions of a container in compose.yaml. */
const CONFINED = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]

export const image = async (task: Run): Promise<void> => {
  const builder = await firstOf(["docker", "podman", "buildah"])
  if (builder === undefined) return task.leftOut("the image", "neither docker, podman nor buildah works here")
  const base = await baseFor(task, builder)
  await run(building(builder, base))
  task.ends.defer(async () => void (await attempt([builder, "rmi", IMAGE])))
  task.holds(`${builder} builds the image${base === undefined ? "" : ` on ${base}`}`)
  const engine = await firstOf(["docker", "podman"])
  if (engine !== builder) return task.leftOut("starting the image", `${builder} cannot run images`)
  await start(task, engine)
}

const firstOf = async <Name extends string>(names: ReadonlyArray<Name>): Promise<Name | undefined> => {
  for (const name of names) if (await works([name, "info"])) return name
  return undefined
}

/** Health checks exist only in Docker's image format. No layers of the build are kept. */
const building = (builder: string, base: string | undefined): Words => [
  builder,
  "build",
  ...(builder === "docker" ? [] : ["--format", "docker", "--layers=false"]),
  ...(base === undefined ? [] : ["--build-arg", `NODE=${base}`]),
  "--tag",
  IMAGE,
  ".",
]

const start = async (task: Run, engine: string): Promise<void> => {
  const database = await postgres(task, "image")
  const shared = [`DATABASE_URL=${database}`, `WAYBILL_INSTANCE_KEY=${randomBytes(32).toString("base64")}`]
  const begin = async (roles: string) => {
    const [port, smtp, metrics] = [await freePort(), await freePort(), await freePort()]
    const own = [`PORT=${port}`, `SMTP_PORT=${smtp}`, `METRICS_PORT=${metrics}`, "HOST=127.0.0.1"]
    const env = [...shared, ...own, `BASE_URL=http://127.0.0.1:${port}`].flatMap((pair) => ["--env", pair])
    const options = ["--network", "host", ...CONFINED, ...env]
    const id = await run([engine, "run", "--detach", ...options, IMAGE, "start", "--roles", roles])
    task.ends.defer(async () => void (await attempt([engine, "rm", "--force", "--volumes", id])))
    const inside = (...words: ReadonlyArray<string>) => run([engine, "exec", id, ...words])
    const metricsBase = `http://127.0.0.1:${metrics}`
    await until("/readyz answers", 90, () => isReady(metricsBase)).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${(await attempt([engine, "logs", id])).output}`)
    })
    return { id, inside, options, base: `http://127.0.0.1:${port}` }
  }
  const api = await begin("api,smtp")
  const worker = await begin("worker")
  task.holds("an api and a worker are ready, read-only and without capabilities")
  for (const { id, inside } of [api, worker]) {
    demand((await inside("id", "-u")) === "1000", "the container's user is not 1000")
    const [kind, ...health] = await inspected<ReadonlyArray<string>>(engine, id, "Config.Healthcheck.Test")
    demand(kind === "CMD" && health.length > 0, "the image has no health check")
    await inside(...health)
  }
  task.holds("both run as user 1000 and are healthy")
  await exercise(api.base, (...args) => api.inside("waybill", ...args))
  const page = await fetch(api.base)
  demand(page.ok && (await page.text()).includes("<script"), "the image has no dashboard")
  task.holds("exec creates an account and a key; a mail is accepted, delivered by the worker and kept in the sandbox")
  await run([engine, "run", "--rm", ...api.options, IMAGE, "migrate", "--check"])
  task.holds("a single command runs in a container")
  for (const { id } of [api, worker]) {
    const seconds = await secondsOf(() => run([engine, "stop", "--time", `${SECONDS_TO_STOP}`, id]))
    const code = await inspected<number>(engine, id, "State.ExitCode")
    demand(code === 0, `SIGTERM stopped it with ${code}`)
    demand(seconds < SECONDS_TO_STOP, `it took ${seconds.toFixed(0)} s to stop`)
  }
  const bytes = Number(await run([engine, "image", "inspect", "--format", "{{.Size}}", IMAGE]))
  task.holds(`SIGTERM stops both with 0; the image has ${Math.round(bytes / 1e6)} MB`)
}

const inspected = async <A>(engine: string, id: string, path: string): Promise<A> =>
  JSON.parse(await run([engine, "inspect", "--format", `{{json .${path}}}`, id])) as A
