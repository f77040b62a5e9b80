import { execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import nodemailer from "nodemailer"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { signatures } from "../../apps/server/src/worker/webhooks/WebhookSignature.ts"
import { type TestInstance, Waybill } from "../../packages/testing/src/Waybill.ts"
import { type Packed, packPackage } from "../support/process/packPackage.ts"
import * as Languages from "./Languages.ts"
import * as Frameworks from "./quickstartPrograms.ts"

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const MODULES = join(ROOT, "node_modules")
const NPM = join(ROOT, "test/clients/npm")
const PAGES = join(ROOT, "docs/quickstarts")
const TIMEOUT = 240_000
/** Within the time of a test, so that one that waits in vain takes nothing of the next. */
const ARRIVES = 30_000
const SECRET = `whsec_${Buffer.alloc(24, 3).toString("base64")}`
/** Rows that a screen shows of a page, at the width of its lines. */
const SCREEN = 55

interface Fence {
  readonly language: string
  readonly text: string
  /** Name of the file that its first line gives. */
  readonly file: string | undefined
}

const fencesOf = (page: string): ReadonlyArray<Fence> =>
  [...readFileSync(join(PAGES, `${page}.md`), "utf8").matchAll(/^```(\w+)[^\n]*\n([^]*?)^```$/gmu)].map(
    ([, language = "", text = ""]) => ({ language, text, file: /^(?:#|\/\/) ([\w./[\]-]+)\n/u.exec(text)?.[1] }),
  )

let mail: TestInstance
let packed: Packed

beforeAll(async () => {
  const { ensureModules } = (await import(new URL("../../bin/install.mjs", import.meta.url).href)) as {
    readonly ensureModules: (options: { readonly dev: boolean; readonly folder: string }) => Promise<void>
  }
  ;[mail, packed] = await Promise.all([
    Waybill.start(),
    packPackage("client"),
    ensureModules({ dev: true, folder: NPM }),
  ])
  await symlink(join(NPM, "node_modules/express"), join(packed.project, "node_modules/express"))
  await symlink(join(MODULES, "@types"), join(packed.project, "node_modules/@types"))
}, TIMEOUT)
afterAll(async () => {
  await mail.stop()
  await rm(packed.folder, { recursive: true, force: true })
}, TIMEOUT)

/** What a program of a page finds in its environment, as the page says. */
const env = () => ({
  ...process.env,
  WAYBILL_KEY: mail.key,
  WAYBILL_URL: mail.url,
  WAYBILL_SMTP_HOST: mail.smtp.host,
  WAYBILL_SMTP_PORT: String(mail.smtp.port),
  WEBHOOK_SECRET: SECRET,
  NO_PROXY: "*",
  no_proxy: "*",
})

/** Writes the files of a page into a folder. */
const filesOf = async (page: string, folder = join(packed.project, page)): Promise<string> => {
  for (const { file, text } of fencesOf(page)) {
    if (file === undefined) continue
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), file.endsWith(".php") ? `<?php\n${text}` : text)
  }
  return folder
}

const call = (): { readonly body: string; readonly headers: Record<string, string> } => {
  const body = JSON.stringify({ type: "email.delivered", data: { email_id: "msg_1" } })
  const at = Math.floor(Date.now() / 1000)
  const signature = signatures({ id: "evt_1", body, secrets: [SECRET] }, at)
  return {
    body,
    headers: {
      "content-type": "application/json",
      "webhook-id": "evt_1",
      "webhook-timestamp": String(at),
      "webhook-signature": signature,
    },
  }
}

/** The receipt that most pages send, with what its headers or fields say. */
const assertReceipt = async (order?: number) => {
  const message = await mail.next({ to: "ana@example.org", subject: "Your receipt" }, { timeout: ARRIVES })
  assert.include(message.html ?? "", "Thank you.")
  assert.strictEqual(message.from, "hello@acme.test")
  if (order === undefined) return
  const { data } = await api(`/v1/email/logs?limit=1&tag=receipt&metadata.order=${order}`)
  assert.strictEqual(data[0]?.id, message.id)
}

const api = async (path: string) => {
  const response = await fetch(`${mail.url}${path}`, { headers: { authorization: `Bearer ${mail.key}` } })
  return (await response.json()) as { readonly data: ReadonlyArray<{ readonly id: string }> }
}

const sendBy = async (options: Parameters<typeof nodemailer.createTransport>[0], from: string) => {
  const message = { from, to: "ana@example.org", subject: "Your receipt", html: "<p>Thank you.</p>" }
  await nodemailer.createTransport(options).sendMail(message)
  await assertReceipt()
}

/** Runs a program with an interpreter of Debian, where there is one. */
const runWith = async (language: string, args: ReadonlyArray<string>, cwd: string): Promise<string> => {
  const found = Languages.LANGUAGES.find(({ name }) => name === language) ?? assert.fail(language)
  const { stdout } = await run(found.interpreter, args, {
    cwd,
    env: env(),
    timeout: TIMEOUT,
  })
  return stdout
}
const isMissing = (language: string): boolean =>
  !Languages.LANGUAGES.some((each) => each.name === language && Languages.isInstalled(each))

const isInstalled = (command: string, ...args: ReadonlyArray<string>): boolean => spawnSync(command, args).status === 0
const INSTALLED: Readonly<Record<string, boolean>> = {
  Django: isInstalled("python3", "-c", "import django"),
  Flask: isInstalled("python3", "-c", "import flask"),
  "Action Mailer": isInstalled("ruby", "-rlogger", "-raction_mailer", "-e", ""),
  "Symfony Mailer": isInstalled(
    "php",
    "-r",
    "extension_loaded('mbstring') || exit(1); require 'Symfony/Component/Mailer/autoload.php';",
  ),
}
/** Says in the name of a test by what it sends. */
const by = (framework: string, instead: string): string =>
  INSTALLED[framework] === true ? `by ${framework}` : `${framework} is not installed: by ${instead}`

describe("a quickstart", { timeout: TIMEOUT }, () => {
  it("is one screen, is listed, and says where to begin", async () => {
    const pages = readdirSync(PAGES).filter((name) => name !== "README.md")
    const list = await readFile(join(PAGES, "README.md"), "utf8")
    assert.lengthOf(pages, 9)
    for (const page of pages) {
      const text = await readFile(join(PAGES, page), "utf8")
      assert.isAtMost(text.split("\n").length, SCREEN, page)
      assert.include(list, `(${page})`)
      assert.match(text, /README\.md#before-you-begin|smtp\.md#log-in/u, page)
    }
  })

  it("for Next.js has route handlers that compile, send and verify", async () => {
    const folder = await filesOf("nextjs")
    await writeFile(join(folder, "driver.mjs"), Frameworks.NEXT)
    const routes = ["app/api/invitations/route.ts", "app/api/hooks/route.ts"]
    const options = "--noEmit --strict --skipLibCheck --target es2024 --module nodenext --types node".split(" ")
    await run(process.execPath, [join(MODULES, "typescript/bin/tsc"), ...options, ...routes], { cwd: folder }).catch(
      ({ stdout }: { readonly stdout: string }) => assert.fail(stdout),
    )
    const { stdout } = await run(process.execPath, ["--no-warnings", "driver.mjs"], {
      cwd: folder,
      env: { ...env(), CALL: JSON.stringify(call()) },
    })
    const [sent, refused, , ok] = stdout.trim().split("\n")
    assert.match(sent ?? "", /^200 \{"id":"msg_/u, stdout)
    assert.match(refused ?? "", /^422 .*"reason":"validation_failed"/u)
    assert.strictEqual(ok, "204")
    await mail.next({ subject: "You are invited" }, { timeout: ARRIVES })
  })

  it("for Express serves orders and webhook calls", async () => {
    const folder = await filesOf("express")
    const child = spawn(process.execPath, ["app.mjs"], {
      cwd: folder,
      env: { ...env(), PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    })
    try {
      const [said] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string]
      const url = `http://127.0.0.1:${/port (\d+)/u.exec(said)?.[1] ?? assert.fail(said)}`
      const headers = { "content-type": "application/json" }
      const order = (email: string) =>
        fetch(`${url}/orders`, { method: "POST", headers, body: JSON.stringify({ email }) })
      assert.strictEqual((await order("ana@example.org")).status, 201)
      await assertReceipt()
      assert.strictEqual((await order("nobody")).status, 422)
      assert.strictEqual((await fetch(`${url}/hooks`, { method: "POST", ...call() })).status, 204)
      const forged = { ...call(), body: `${call().body} ` }
      assert.strictEqual((await fetch(`${url}/hooks`, { method: "POST", ...forged })).status, 422)
    } finally {
      child.kill()
    }
  })

  it(`for Django sends (${by("Django", "smtplib with its settings")})`, async ({ skip }) => {
    if (isMissing("Python")) return skip("Python is not installed: the quickstart was not run")
    const folder = await filesOf("django")
    await writeFile(join(folder, "drive.py"), Frameworks.DJANGO)
    const sender = await runWith("Python", ["-B", "drive.py"], folder)
    assert.strictEqual(sender.trim(), INSTALLED["Django"] === true ? "django" : "smtplib")
    await assertReceipt(7044)
  })

  it(`for Flask serves orders and webhook calls (${by("Flask", "a stand-in for it")})`, async ({ skip }) => {
    if (isMissing("Python")) return skip("Python is not installed: the quickstart was not run")
    const folder = await filesOf("flask")
    await cp(join(ROOT, "packages/client-python/waybill"), join(folder, "waybill"), { recursive: true })
    await writeFile(join(folder, "drive.py"), Frameworks.FLASK)
    await writeFile(join(folder, "call.json"), JSON.stringify(call()))
    const [server, ...statuses] = (await runWith("Python", ["-B", "drive.py"], folder)).trim().split("\n")
    assert.strictEqual(server, INSTALLED["Flask"] === true ? "flask" : "stand-in")
    assert.deepStrictEqual(statuses, ["201", "422", "204"])
    await assertReceipt()
  })

  it(`for Rails sends (${by("Action Mailer", "Net::SMTP with its settings")})`, async ({ skip }) => {
    if (isMissing("Ruby")) return skip("Ruby is not installed: the quickstart was not run")
    const folder = await filesOf("rails")
    await writeFile(join(folder, "drive.rb"), Frameworks.RAILS)
    const own = INSTALLED["Action Mailer"] === true
    assert.strictEqual((await runWith("Ruby", ["drive.rb"], folder)).trim(), own ? "action_mailer" : "net_smtp")
    await assertReceipt(own ? 7045 : undefined)
  })

  it(`for Symfony sends (${by("Symfony Mailer", "nodemailer with its DSN")})`, async ({ skip }) => {
    const [{ text = "" } = {}] = fencesOf("symfony")
    const dsn = (/^MAILER_DSN=(.+)$/mu.exec(text)?.[1] ?? assert.fail(text))
      .replace("wb_…", mail.key)
      .replace(":2525", `:${mail.smtp.port}`)
    await sendBy(dsn, "Acme <hello@acme.test>")
    if (isMissing("PHP")) return skip("PHP is not installed: the service was not run")
    const folder = await filesOf("symfony")
    await writeFile(join(folder, "drive.php"), Frameworks.symfony(dsn))
    const own = INSTALLED["Symfony Mailer"] === true
    assert.strictEqual(await runWith("PHP", ["drive.php"], folder), own ? "symfony" : "parsed")
    if (own) await assertReceipt(7046)
  })

  it("for Laravel has settings by which mail is sent, and a mailable that PHP reads", async ({ skip }) => {
    const [{ text = "" } = {}] = fencesOf("laravel")
    const set = Object.fromEntries(text.split("\n").map((line) => line.split("=") as [string, string]))
    assert.strictEqual(set["MAIL_MAILER"], "smtp")
    assert.deepStrictEqual([set["MAIL_HOST"], set["MAIL_PORT"]], ["127.0.0.1", "2525"])
    const auth = { user: set["MAIL_USERNAME"], pass: set["MAIL_PASSWORD"]?.replace("wb_…", mail.key) }
    const address = `${set["MAIL_FROM_NAME"]} <${set["MAIL_FROM_ADDRESS"]}>`
    await sendBy({ host: mail.smtp.host, port: mail.smtp.port, auth } as object, address)
    if (isMissing("PHP")) return skip("PHP is not installed: the mailable was not read")
    const folder = await filesOf("laravel")
    assert.match(await runWith("PHP", ["-l", "app/Mail/Receipt.php"], folder), /^No syntax errors/mu)
  })

  it("for Supabase has settings by which mail is sent", async () => {
    const [{ text = "" } = {}] = fencesOf("supabase")
    const set = [...text.matchAll(/^(\w+) = (.+)$/gmu)].map(([, name, value = ""]) => [name, JSON.parse(value)])
    const { admin_email, host, pass, port, sender_name, user } = Object.fromEntries(set) as Frameworks.Supabase
    assert.deepStrictEqual([host, port, pass], ["mail.example.com", 2525, "env(WAYBILL_KEY)"])
    await sendBy({ ...mail.smtp, auth: { user, pass: mail.key } } as object, `${sender_name} <${admin_email}>`)
  })

  it("for Keycloak has settings by which mail is sent", async () => {
    const [{ text = "" } = {}] = fencesOf("keycloak")
    const { smtpServer } = JSON.parse(text) as Frameworks.Keycloak
    assert.deepStrictEqual(
      [smtpServer.host, smtpServer.port, smtpServer.auth, smtpServer.starttls, smtpServer.ssl],
      ["mail.example.com", "2525", "true", "true", "false"],
    )
    const login = { user: smtpServer.user, pass: smtpServer.password.replace("wb_…", mail.key) }
    await sendBy({ ...mail.smtp, auth: login } as object, `${smtpServer.fromDisplayName} <${smtpServer.from}>`)
  })
})
