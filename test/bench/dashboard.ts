// npm run bench -- dashboard: from the navigation to the content of the screens that people open first, in a new tab with
// a warm cache, and what the browser did for it.
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import type { Browser, BrowserContext } from "playwright-core"
import * as BrowserTab from "../dashboard/support/Browser.ts"
import * as RequestChain from "../dashboard/support/RequestChain.ts"
import { freePort, WaybillCommand } from "../support/process/service.ts"
import * as Measure from "./report/Measure.ts"

/** Page loads of each screen; a user may send about thirty loads of requests a minute. */
const ROUNDS = 9
/** Loads after which the browser keeps the compiled code. */
const WARM_UP = 3
const PAUSE_MS = 2_000
const LOOK_EVERY_MS = 50
const EMAILS = 40
/** Screens by path, with an element of their content. */
const SCREENS = {
  "/overview": "canvas",
  "/emails": 'ul[aria-label="Emails"] a',
} as const

interface Load {
  /** Milliseconds until the content was drawn and no placeholder was left. */
  readonly content: number
  /** Milliseconds of the page's thread. */
  readonly thread: number
  readonly bytes: number
  readonly requests: number
  readonly depth: number
}

/** Time after which a screen counts as broken. */
const CONTENT_WITHIN_MS = 20_000

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Script that notes the time of the frame after the one that has all content. */
const watch = (content: string): string => `(() => {
  const look = () => {
    const isThere = document.querySelector(${JSON.stringify(content)}) && !document.querySelector(".pulsing.bg-hover")
    if (isThere) requestAnimationFrame(() => setTimeout(() => (window.contentAt = performance.now())))
    else requestAnimationFrame(look)
  }
  look()
})()`

const load = async (context: BrowserContext, screen: string, content: string): Promise<Load> => {
  const page = await context.newPage()
  try {
    const devtools = await context.newCDPSession(page)
    await devtools.send("Network.enable")
    await devtools.send("Performance.enable", { timeDomain: "threadTicks" })
    const chain = RequestChain.follow(devtools)
    let bytes = 0
    devtools.on("Network.loadingFinished", ({ encodedDataLength }) => void (bytes += encodedDataLength))
    await page.addInitScript(watch(content))
    await page.goto(screen, { waitUntil: "commit" })
    const end = performance.now() + CONTENT_WITHIN_MS
    while ((await page.evaluate("window.contentAt ?? 0")) === 0) {
      if (performance.now() > end) throw new Error(`${screen} has no content:\n${await page.innerText("body")}`)
      await pause(LOOK_EVERY_MS)
    }
    const { metrics } = await devtools.send("Performance.getMetrics")
    const depths = chain.depths()
    return {
      content: Number(await page.evaluate("window.contentAt")),
      thread: (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000,
      bytes,
      requests: depths.size,
      depth: Math.max(...depths.values()),
    }
  } finally {
    await page.close()
  }
}

const measure = async (browser: Browser): Promise<void> => {
  const home = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-dashboard-"))
  // As root the database runs as another user, who needs access to the folder.
  await fs.chmod(home, 0o711)
  const port = await freePort()
  const service = new WaybillCommand(["start"], {
    DATABASE_URL: "",
    WAYBILL_DATA: path.join(home, "data"),
    PORT: String(port),
    SMTP_PORT: String(await freePort()),
  })
  try {
    const output = await service.waitForOutput("API key    wb_")
    const [, email = "", password = ""] = /Sign in\s+(\S+) \/ ([^\s"]+)/u.exec(output) ?? []
    const [, key = ""] = /API key\s+(wb_\w+)/u.exec(output) ?? []
    for (let nth = 0; nth < EMAILS; nth++) {
      const response = await fetch(`http://127.0.0.1:${port}/v1/email/send`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({
          from: "Acme <hello@acme.test>",
          to: `person${nth}@example.org`,
          subject: `Your order ${nth}`,
          text: "Thank you.",
          tags: ["orders"],
        }),
      })
      if (!response.ok) throw new Error(await response.text())
    }
    const tab = await BrowserTab.openTab(browser, `http://127.0.0.1:${port}`)
    await BrowserTab.signIn(tab.page, { email, password })
    await tab.page.goto("about:blank")
    const loads = new Map<string, Array<Load>>(Object.keys(SCREENS).map((screen) => [screen, []]))
    for (let round = -WARM_UP; round < ROUNDS; round++)
      for (const [screen, content] of Object.entries(SCREENS)) {
        const measured = await load(tab.context, screen, content)
        if (round >= 0) loads.get(screen)?.push(measured)
        await pause(PAUSE_MS)
      }
    // Without the cache, for what a first visit receives.
    const visitor = await BrowserTab.openTab(browser, `http://127.0.0.1:${port}`)
    await visitor.context.addCookies(await tab.context.cookies())
    const first = await load(visitor.context, "/overview", SCREENS["/overview"])
    const findings = [...loads].flatMap(([screen, all]): ReadonlyArray<Measure.Finding> => [
      {
        what: `${screen}, navigation to content`,
        measured: Measure.spread(all.map(({ content }) => content)),
        unit: "ms",
        atMost: 600,
      },
      {
        what: `${screen}, the page's thread until then`,
        measured: Measure.spread(all.map(({ thread }) => thread)),
        unit: "ms",
      },
      {
        what: `${screen}, requests`,
        measured: Measure.once(Math.max(...all.map(({ requests }) => requests))),
        unit: "count",
      },
      {
        what: `${screen}, requests that wait for each other`,
        measured: Measure.once(Math.max(...all.map(({ depth }) => depth))),
        unit: "count",
      },
    ])
    findings.push({
      what: "/overview, first visit, on the wire",
      measured: Measure.once(first.bytes),
      unit: "bytes",
      atMost: 250 * 1024,
    })
    Measure.answer(
      { load: os.loadavg(), loads: Object.fromEntries(loads), first },
      [
        `${ROUNDS} loads of each screen in a new tab with a warm cache; ${EMAILS} emails; load ${os.loadavg()[0]?.toFixed(1)}.`,
        "",
        Measure.findingsTable(findings),
      ].join("\n"),
      findings,
    )
  } finally {
    await browser.close()
    await service.stop()
    await fs.rm(home, { recursive: true, force: true })
  }
}

const opened = await BrowserTab.open()
if (typeof opened === "string") Measure.answer({ skipped: opened }, opened, [])
else await measure(opened)
