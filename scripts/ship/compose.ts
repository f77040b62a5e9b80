import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { freePort } from "../../test/support/process/service.ts"
import { baseFor } from "./baseFor.ts"
import { exercise } from "./exercise.ts"
import type { Run } from "./Run.ts"
import { attempt, demand, run, type Words, works } from "./Shell.ts"

/** The first version that supports an optional env_file. */
const OLDEST = { major: 2, minor: 24 }
const PROJECT = "waybill-ship"

interface Composed {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>
}

export const compose = async (task: Run): Promise<void> => {
  const command = await findCompose()
  if (command === undefined)
    return task.leftOut("compose.yaml", `Docker Compose ${OLDEST.major}.${OLDEST.minor} or newer is not installed`)
  const folder = join(task.scratch, "compose")
  await fs.mkdir(folder)
  await fs.copyFile("compose.yaml", join(folder, "compose.yaml"))
  const config = { cwd: folder }
  const words = [...command, "config", "--format", "json"] as const
  const bare = await attempt(words, config)
  demand(bare.code !== 0 && bare.output.includes("is missing in .env"), `without .env it printed:\n${bare.output}`)
  const example = await fs.readFile("deploy/compose.env.example", "utf8")
  await fs.writeFile(join(folder, ".env"), example.replace(/^(POSTGRES_PASSWORD|WAYBILL_INSTANCE_KEY)=$/gmu, "$1=x"))
  const { services } = JSON.parse(await run(words, config)) as Composed
  demand(
    ["api", "postgres", "worker"].every((name) => name in services),
    "a service is missing",
  )
  demand(services["api"]?.environment?.["TRANSPORT"] === "sandbox", "the service does not get the settings of .env")
  task.holds(`${command.join(" ")} accepts compose.yaml with the example .env, and requires .env`)
  if (!(await works(["docker", "info"]))) return task.leftOut("starting it", "Docker does not work here")
  await start(task, command, folder, example)
}

/** Starts compose.yaml with other ports, and with other names than an existing installation could have. */
const start = async (task: Run, command: Words, folder: string, example: string): Promise<void> => {
  const [port, smtp] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const base = await baseFor(task, "docker")
  const build = { context: process.cwd(), ...(base === undefined ? {} : { args: { NODE: base } }) }
  const text = (await fs.readFile("compose.yaml", "utf8"))
    .replaceAll("build: .", `build: ${JSON.stringify(build)}`)
    .replaceAll("image: waybill", `image: ${PROJECT}`)
    .replace(":3025:3025", `:${port}:3025`)
    .replace(":2525:2525", `:${smtp}:2525`)
  await fs.writeFile(join(folder, "compose.yaml"), text)
  const settings = example
    .replace(/^POSTGRES_PASSWORD=$/mu, `$&${randomBytes(24).toString("hex")}`)
    .replace(/^WAYBILL_INSTANCE_KEY=$/mu, `$&${randomBytes(32).toString("base64")}`)
    .replace(/^BASE_URL=.*$/mu, `BASE_URL=${url}`)
  await fs.writeFile(join(folder, ".env"), settings)
  const composed = (...words: ReadonlyArray<string>) =>
    run([...command, "--project-name", PROJECT, ...words], { cwd: folder })
  task.ends.defer(async () => {
    await composed("down", "--volumes")
    await attempt(["docker", "rmi", PROJECT])
  })
  await composed("build", "api")
  await composed("up", "--detach", "--no-build", "--wait", "--scale", "worker=2")
  task.holds("Postgres, an api and two workers are up and healthy")
  await exercise(url, (...args) => composed("exec", "-T", "api", "waybill", ...args))
  task.holds("exec creates an account and a key; a mail is accepted, delivered by a worker and kept in the sandbox")
  await composed("run", "--rm", "-T", "api", "migrate", "--check")
  await composed("stop", "api", "worker")
  const ended = await composed("ps", "--all", "--quiet", "api", "worker")
  const codes = await run(["docker", "inspect", "--format", "{{.State.ExitCode}}", ...ended.split("\n")])
  demand(codes === "0\n0\n0", `the exit codes are ${codes}`)
  task.holds("a single command runs, and all three containers stop with 0")
}

const findCompose = async (): Promise<Words | undefined> => {
  for (const command of [["docker", "compose"], ["docker-compose"]] as const) {
    const version = [...command, "version", "--short"] as const
    if (!(await works(version))) continue
    const [, major, minor] = /^v?(\d+)\.(\d+)/u.exec(await run(version)) ?? []
    if (Number(major) > OLDEST.major || (Number(major) === OLDEST.major && Number(minor) >= OLDEST.minor))
      return command
  }
  return undefined
}
