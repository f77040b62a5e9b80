import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { expect } from "vitest"

/** Folder of the unpacked Chromium package, inside node_modules. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/waybill/chromium/", import.meta.url))
const EXECUTABLE_NAMES = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome"]
const MAC_EXECUTABLES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
]

/** Chromium refuses its sandbox as root; the tests open only local pages. */
const ARGUMENTS = ["--no-sandbox", "--no-zygote", "--disable-gpu", "--font-render-hinting=none"]

const installedBrowser = (): string | undefined =>
  [
    process.env["CHROME_PATH"] ?? "",
    ...(process.env["PATH"] ?? "")
      .split(delimiter)
      .flatMap((folder) => EXECUTABLE_NAMES.map((name) => join(folder, name))),
    ...MAC_EXECUTABLES,
  ].find((file) => file !== "" && existsSync(file))

/** Unpacks the Chromium of the npm package, with libraries that a minimal system lacks, and returns its path. */
const unpackedChromium = async (): Promise<string> => {
  const binary = join(CACHE, "chromium")
  if (existsSync(binary)) return binary
  const { default: Packed, inflate } = await import("@sparticuz/chromium")
  const folder = `${CACHE.replace(/\/$/u, "")}-${process.pid}`
  mkdirSync(folder, { recursive: true })
  // The package unpacks into TMPDIR. An own folder that is renamed at the end never leaves a partial result.
  const previous = process.env["TMPDIR"]
  process.env["TMPDIR"] = folder
  try {
    await Packed.executablePath()
    await inflate(fileURLToPath(new URL("../bin/al2023.tar.br", import.meta.resolve("@sparticuz/chromium"))))
  } finally {
    if (previous === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = previous
  }
  writeFileSync(join(folder, "fonts", "fonts.conf"), fontsOf(join(CACHE, "fonts")))
  mkdirSync(dirname(CACHE), { recursive: true })
  try {
    renameSync(folder, CACHE)
  } catch (error) {
    // Another test file has unpacked it meanwhile.
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
    if (process.platform !== "linux" || process.arch !== "x64")
      throw new Error("the npm package supports only Linux on x64")
    return start(await unpackedChromium(), { FONTCONFIG_PATH: join(CACHE, "fonts") })
  },
  // The bundled libraries may be older than those of the system, so they are tried second.
  () =>
    start(join(CACHE, "chromium"), {
      FONTCONFIG_PATH: join(CACHE, "fonts"),
      LD_LIBRARY_PATH: join(CACHE, "al2023", "lib"),
    }),
  async () => {
    const executable = installedBrowser()
    if (executable === undefined) throw new Error("no Chrome is installed")
    return start(executable)
  },
]

const launch = async (): Promise<Browser | string> => {
  const reasons: Array<string> = []
  for (const attempt of attempts) {
    try {
      return await attempt()
    } catch (error) {
      reasons.push(String(error instanceof Error ? error.message : error).split("\n")[0] ?? "")
    }
  }
  const reason = `no browser starts on this machine: ${[...new Set(reasons)].join("; ")}`
  process.stderr.write(`Dashboard tests skipped: ${reason}\n`)
  return reason
}

let launched: Promise<Browser | string> | undefined

/** Returns the browser of this worker, which one file after another uses, or the reason why none starts. */
export const open = async (): Promise<Browser | string> => {
  const browser = await (launched ??= launch())
  return typeof browser === "string" || browser.isConnected() ? browser : (launched = launch())
}

/** Closes all tabs. The browser stays for the next file, and ends with the worker. */
export const closeTabs = async (): Promise<void> => {
  const browser = await launched
  if (typeof browser === "object") await Promise.all(browser.contexts().map((context) => context.close()))
}

export interface BrowserTab {
  readonly context: BrowserContext
  readonly page: Page
  /** Errors and warnings of the console, including violations of the content security policy. */
  readonly consoleErrors: ReadonlyArray<string>
}

export const DESKTOP = { width: 1280, height: 820 }

/** Timeout of a single step. Generous, because test machines can be slow. */
const STEP_TIMEOUT_MS = 100_000

/** Opens a tab in its own context, with separate cookies. */
export const openTab = async (browser: Browser, url: string, timezoneId = "UTC"): Promise<BrowserTab> => {
  // What moves is drawn again for each frame, by the processor.
  const looks = { viewport: DESKTOP, reducedMotion: "reduce" } as const
  const context = await browser.newContext({ baseURL: url, locale: "en-GB", timezoneId, ...looks })
  context.setDefaultTimeout(STEP_TIMEOUT_MS)
  const page = await context.newPage()
  const consoleErrors: Array<string> = []
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      consoleErrors.push(`${message.text()} (${message.location().url})`)
  })
  page.on("pageerror", (error) => consoleErrors.push(String(error.stack ?? error)))
  return { context, page, consoleErrors }
}

/** Repeats an assertion until it holds or the step times out. The message says which case of a table failed. */
export const eventually = <A>(read: () => A | Promise<A>, message?: string) =>
  expect.poll(read, { timeout: STEP_TIMEOUT_MS, interval: 100, ...(message === undefined ? {} : { message }) })

/** Script that returns the accessible name of the focused element. A string, because the tests have no DOM types. */
const FOCUSED = `(() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  if (element === null || element === document.body) return ""
  const label = element.labels?.[0]?.textContent ?? element.textContent
  return (element.getAttribute("aria-label") ?? label ?? "").replace(/\\s+/g, " ").trim()
})()`
const MAX_TABS = 80

/** Presses Tab, or Shift+Tab, until the element with this accessible name has the focus. */
export const tabTo = async (page: Page, name: string | RegExp, key = "Tab"): Promise<void> => {
  const reached: Array<string> = []
  for (let index = 0; index < MAX_TABS; index++) {
    const focused = String(await page.evaluate(FOCUSED))
    if (typeof name === "string" ? focused === name : name.test(focused)) return
    reached.push(focused)
    await page.keyboard.press(key)
  }
  throw new Error(`${key} never reached ${String(name)}; reached: ${reached.join(" | ")}`)
}

/** Presses two keys, one after the other, without a wait in between: a busy machine would part them for too long. */
export const chord = (page: Page, first: string, second: string): Promise<unknown> =>
  Promise.all([page.keyboard.press(first), page.keyboard.press(second)])

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
