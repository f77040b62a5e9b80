import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { expect } from "vitest"

/** Unpacked once a checkout, among what npm installed: nothing of it lands on the user's system. */
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/waybill/chromium/", import.meta.url))
const NAMES = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome"]
const PLACES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
]

/** As root there is no sandbox to be had, and the pages are our own. */
const ARGUMENTS = ["--no-sandbox", "--no-zygote", "--disable-gpu", "--font-render-hinting=none"]

const system = (): string | undefined =>
  [
    process.env["CHROME_PATH"] ?? "",
    ...(process.env["PATH"] ?? "").split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name))),
    ...PLACES,
  ].find((file) => file !== "" && existsSync(file))

/** The Chromium of the npm package, and where the libraries lie that a bare machine lacks. */
const packed = async (): Promise<string> => {
  const binary = join(CACHE, "chromium")
  if (existsSync(binary)) return binary
  const { default: Packed, inflate } = await import("@sparticuz/chromium")
  const folder = `${CACHE.replace(/\/$/u, "")}-${process.pid}`
  mkdirSync(folder, { recursive: true })
  // The package unpacks into the system's folder for temporary files, where half an unpacking would stay for ever.
  const before = process.env["TMPDIR"]
  process.env["TMPDIR"] = folder
  try {
    await Packed.executablePath()
    await inflate(fileURLToPath(new URL("../bin/al2023.tar.br", import.meta.resolve("@sparticuz/chromium"))))
  } finally {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
  }
  writeFileSync(join(folder, "fonts", "fonts.conf"), fontsOf(join(CACHE, "fonts")))
  mkdirSync(dirname(CACHE), { recursive: true })
  try {
    renameSync(folder, CACHE)
  } catch (error) {
    // Another test file was quicker.
    if (!existsSync(binary)) throw error
  }
  return binary
}

const fontsOf = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${folder}/cache</cachedir>
  <alias><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
  <alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
</fontconfig>
`

const start = (executablePath: string, env: Record<string, string> = {}): Promise<Browser> =>
  chromium.launch({ executablePath, args: ARGUMENTS, env: { ...process.env, ...env } })

const attempts: ReadonlyArray<() => Promise<Browser>> = [
  async () => {
    if (process.platform !== "linux" || process.arch !== "x64") throw new Error("the one from npm is for Linux on x64")
    return start(await packed(), { FONTCONFIG_PATH: join(CACHE, "fonts") })
  },
  // With libraries that are older than the system's own, so only where it has none.
  () =>
    start(join(CACHE, "chromium"), {
      FONTCONFIG_PATH: join(CACHE, "fonts"),
      LD_LIBRARY_PATH: join(CACHE, "al2023", "lib"),
    }),
  async () => {
    const found = system()
    if (found === undefined) throw new Error("no Chrome is installed")
    return start(found)
  },
]

/** A browser, or in plain words why there is none. */
export const open = async (): Promise<Browser | string> => {
  const reasons: Array<string> = []
  for (const attempt of attempts) {
    try {
      return await attempt()
    } catch (error) {
      reasons.push(String(error instanceof Error ? error.message : error).split("\n")[0] ?? "")
    }
  }
  const said = `no browser starts on this machine: ${[...new Set(reasons)].join("; ")}`
  process.stderr.write(`The dashboard is not tested, since ${said}\n`)
  return said
}

export interface Watched {
  readonly context: BrowserContext
  readonly page: Page
  /** What the console had to complain of, violations of the page's policy among it. */
  readonly complaints: ReadonlyArray<string>
}

export const DESK = { width: 1280, height: 820 }

/** A busy machine is slow, and a screen that never comes should not be waited for much longer. */
const PATIENCE_MS = 50_000

/** A window of its own, with cookies of its own. */
export const visit = async (browser: Browser, url: string, timezoneId = "UTC"): Promise<Watched> => {
  const context = await browser.newContext({ baseURL: url, locale: "en-GB", timezoneId, viewport: DESK })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: Array<string> = []
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      complaints.push(`${message.text()} (${message.location().url})`)
  })
  page.on("pageerror", (error) => complaints.push(String(error.stack ?? error)))
  return { context, page, complaints }
}

/** What comes about by itself, as long as a screen is waited for. */
export const eventually = <A>(look: () => A | Promise<A>) => expect.poll(look, { timeout: PATIENCE_MS, interval: 100 })

/** The name by which a reader hears what has the focus. The tests know no document, hence a text. */
const FOCUSED = `(() => {
  const at = document.activeElement
  if (at === null || at === document.body) return ""
  const label = at.labels?.[0]?.textContent ?? at.textContent
  return (at.getAttribute("aria-label") ?? label ?? "").replace(/\\s+/g, " ").trim()
})()`
const MAX_TABS = 80

/** Goes on with Tab until what is named has the focus. */
export const tabTo = async (page: Page, name: string | RegExp): Promise<void> => {
  const passed: Array<string> = []
  for (let nth = 0; nth < MAX_TABS; nth++) {
    const focused = String(await page.evaluate(FOCUSED))
    if (typeof name === "string" ? focused === name : name.test(focused)) return
    passed.push(focused)
    await page.keyboard.press("Tab")
  }
  throw new Error(`Tab never came to ${String(name)}, but to: ${passed.join(" | ")}`)
}

export const signIn = async (
  page: Page,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> => {
  await page.goto("/")
  await page.getByLabel("Email").waitFor()
  await tabTo(page, "Email")
  await page.keyboard.type(email)
  await page.keyboard.press("Tab")
  await page.keyboard.type(password)
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
}
