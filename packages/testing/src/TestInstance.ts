import * as Api from "./service/Api.ts"
import { Arrivals, type ArrivedMessage } from "./Arrivals.ts"
import type * as Criteria from "./Criteria.ts"
import type { MailEvent } from "./service/Feed.ts"
import * as Incoming from "./Incoming.ts"
import { findCode } from "./content/findCode.ts"
import { destinationOf } from "./content/destinationOf.ts"
import { findLink, type Readable } from "./content/findLink.ts"
import * as Hook from "./service/Hook.ts"
import type * as Mailbox from "./Mailbox.ts"
import type { FaultStatus, Service } from "./service/Service.ts"
import * as Templates from "./Templates.ts"
import { isoDuration } from "./isoDuration.ts"
import * as Timeline from "./Timeline.ts"
import { DEFAULT_TIMEOUT_MS, type Waiting } from "./Waiting.ts"

/** Pause between looks at an advance that takes longer than one request. */
const ADVANCE_POLL_MS = 100

/** The clock of the instance, as the service shows it. */
interface Clock {
  readonly now: string
  readonly status: "ready" | "advancing"
  readonly stopped: string | null
}

/** A whole Waybill of a test suite. */
export class TestInstance implements AsyncDisposable, Disposable {
  /** A test key: its mail may come from any domain, follows scripts, and lives on the clock that `advance` moves. */
  readonly key: string
  /** A live key, for what test keys cannot do: domains, webhooks, keys and members. */
  readonly adminKey: string
  /** Address of the API, the reference at `/docs` and the dashboard. */
  readonly url: string
  /** Options for `nodemailer.createTransport` and other SMTP clients. */
  readonly smtp: {
    readonly host: string
    readonly port: number
    readonly secure: false
    readonly auth: { readonly user: string; readonly pass: string }
  }
  /** Options for `new Resend(mail.key, mail.resend)`. */
  readonly resend: { readonly baseUrl: string }
  readonly #service: Service
  readonly #clock: string
  readonly #api: Api.ApiRequests
  readonly #admin: Api.ApiRequests
  readonly #arrivals: Arrivals
  readonly #names = new Map<string, string>()
  readonly #scripted = new Set<string>()
  readonly #hooks = new Set<Hook.Hook>()
  #now: Date

  constructor(service: Service) {
    const { test_clock: clock, test_key: key } = service
    this.#service = service
    this.#clock = clock
    this.key = key
    this.adminKey = service.key
    this.url = service.url
    this.smtp = { ...service.smtp, secure: false, auth: { user: "waybill", pass: key } }
    this.resend = { baseUrl: `${service.url}/compat/resend` }
    this.#api = Api.make(service.url, key)
    this.#admin = Api.make(service.url, service.key)
    this.#now = new Date(service.now)
    this.#arrivals = new Arrivals(this.#api)
  }

  /**
   * Waits for a message that was delivered and returns it. Each message is returned once, in the order of delivery; one that
   * does not match stays for a later call.
   */
  async next(
    criteria: Criteria.Criteria = {},
    { timeout = DEFAULT_TIMEOUT_MS }: Waiting = {},
  ): Promise<ArrivedMessage> {
    return await this.#arrivals.next(criteria, timeout)
  }

  /** Messages that the service accepted, whatever happened to them. Waits for the first one if `timeout` is given. */
  async sent(criteria: Criteria.Criteria = {}, waiting: Waiting = {}): Promise<ReadonlyArray<Mailbox.Sent>> {
    return await this.#arrivals.list((mailbox) => mailbox.accepted(criteria), waiting)
  }

  /** Messages that were delivered, also those that `next` has returned. Waits as `sent` does. */
  async delivered(criteria: Criteria.Criteria = {}, waiting: Waiting = {}): Promise<ReadonlyArray<Mailbox.Sent>> {
    return await this.#arrivals.list((mailbox) => mailbox.delivered(criteria), waiting)
  }

  /**
   * Renders a template, by its id or alias or from its words, and sends nothing. Variables that do not fit its schema are an
   * error that lists them. `link` and `code` read the result.
   */
  async render(
    template: string | Templates.TemplateWords,
    variables: object = {},
    options: Templates.RenderOptions = {},
  ): Promise<Templates.RenderedTemplate> {
    return await Templates.render(this.#admin, template, variables, options)
  }

  /** Makes words what is sent by an alias from now on, and returns the number of the version. */
  async publish(alias: string, words: Templates.TemplateWords): Promise<number> {
    return await Templates.publish(this.#admin, alias, words)
  }

  /** The time of all mail, which stands still until `advance` moves it. */
  get now(): Date {
    return new Date(this.#now)
  }

  /**
   * Returns the address that the link with this text leads to, also if the service tracks it; without a text, of the only
   * link.
   */
  link(message: Readable, text?: string | RegExp): string {
    return destinationOf(findLink(message, text))
  }

  /** Follows a tracked link as a reader does, which is a click, and returns the address that it leads to. */
  async click(message: Readable, text?: string | RegExp): Promise<string> {
    const url = findLink(message, text)
    const destination = destinationOf(url)
    if (destination === url)
      throw new Error(`The link to ${url} is not tracked. Send with \`tracking: { clicks: true }\`.`)
    const { status } = await fetch(url, { redirect: "manual" })
    if (status !== 302) throw new Error(`The service answered the click with ${status}.`)
    return destination
  }

  /** Returns the one-time code of a message, without spaces. */
  code(message: Readable, pattern?: RegExp): string {
    return findCode(message, pattern)
  }

  /**
   * Sets what servers answer to mail to an address from now on, in the words of `X-Waybill-Script`: one step for each
   * attempt of a message, such as `defer 451 4.7.1`, `bounce` or `slow`. After the last one, the message is delivered. No steps
   * end it.
   */
  async script(address: string, steps: ReadonlyArray<string>): Promise<void> {
    await this.#service.instruct({ script: { address, steps } })
    if (steps.length === 0) this.#scripted.delete(address)
    else this.#scripted.add(address)
  }

  /**
   * Lets the service answer the next requests that send mail with an error, as if it were busy (429) or broken (500, 503).
   * Nothing is sent. Over SMTP, a message gets 451.
   */
  async fail({ status, times = 1 }: { readonly status: FaultStatus; readonly times?: number }): Promise<void> {
    await this.#service.instruct({ fail: { status, times } })
  }

  /**
   * Lets a function get the events of your mail as a webhook does: of these types, or of all. An error that it throws fails
   * the call, which is made again when time passes.
   */
  async webhook(handler: Hook.HookHandler, types: ReadonlyArray<string> = ["*"]): Promise<Hook.Hook> {
    const hook = await Hook.listen(this.#admin, handler, types)
    this.#hooks.add(hook)
    const close = async () => {
      if (this.#hooks.delete(hook)) await hook.close()
    }
    return { ...hook, close }
  }

  /**
   * Moves the time of all mail forward, such as by `3 days` or `PT90M`: scheduled mail is delivered, deferred mail is tried
   * again, webhooks are called again. Resolves to the new time when all of it is done.
   */
  async advance(duration: string): Promise<Date> {
    const path = `/v1/test/clocks/${this.#clock}`
    let clock = (await this.#api.post(`${path}/advance`, { by: isoDuration(duration) })) as Clock
    while (clock.status === "advancing") {
      await new Promise((resolve) => setTimeout(resolve, ADVANCE_POLL_MS))
      clock = (await this.#api.get(path)) as Clock
    }
    if (clock.stopped !== null) throw new Error(`The clock stopped early, at ${clock.now}: ${clock.stopped}.`)
    this.#now = new Date(clock.now)
    return this.now
  }

  /**
   * Lets a mail come in for an address of your program, as if its server had received it, and returns the record that
   * webhooks get. Any domain receives.
   */
  async receive(mail: Incoming.Incoming): Promise<Incoming.Received> {
    return await Incoming.receive(this.#api, mail)
  }

  /** Lets a recipient answer a message that was delivered. The reply goes where the message asks for it. */
  async reply(message: Mailbox.Sent, reply: Incoming.Reply): Promise<Incoming.Received> {
    const headers = message.delivered.length === 0 ? [] : (await this.#arrivals.read(message)).headers
    return await this.receive(Incoming.answerTo({ ...message, headers }, reply))
  }

  /** Returns one line for each event of a message, the same in each run, for a snapshot. */
  async timeline(message: string | { readonly id: string }): Promise<ReadonlyArray<string>> {
    const id = typeof message === "string" ? message : message.id
    const events: Array<MailEvent> = []
    for (let after: string | null = ""; after !== null;) {
      const page = (await this.#api.get(`/v1/email/logs/${encodeURIComponent(id)}/events${after}`)) as {
        readonly next_cursor: string | null
        readonly data: ReadonlyArray<MailEvent>
      }
      events.push(...page.data)
      after = page.next_cursor === null ? null : `?after=${encodeURIComponent(page.next_cursor)}`
    }
    return Timeline.make(this.#nameOf(id), events)
  }

  /**
   * Forgets all messages, scripts and errors so far, empties the sandbox, and sets the clock to the present time. Mail that
   * was still to be delivered is none of the messages afterwards.
   */
  async reset(): Promise<void> {
    for (const address of this.#scripted) await this.script(address, [])
    await this.#service.instruct({ fail: { status: 503, times: 0 } })
    const { now } = await this.#service.instruct({ clock: "reset" })
    if (now !== undefined) this.#now = new Date(now)
    await this.#arrivals.forget()
    this.#names.clear()
    await this.#api.remove("/v1/sandbox/messages")
  }

  /** Stops the service and removes its data. */
  async stop(): Promise<void> {
    for (const hook of this.#hooks) await hook.close()
    await this.#service.stop()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** For `using`: the service stops while the test goes on. */
  [Symbol.dispose](): void {
    void this.stop()
  }

  #nameOf(id: string): string {
    const name = this.#names.get(id) ?? `msg_${this.#names.size + 1}`
    this.#names.set(id, name)
    return name
  }
}
