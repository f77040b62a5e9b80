import type { Readable } from "./content/findLink.ts"
import * as Criteria from "./Criteria.ts"
import * as Mailbox from "./Mailbox.ts"
import type { ApiRequests } from "./service/Api.ts"
import { Feed } from "./service/Feed.ts"
import type { Waiting } from "./Waiting.ts"

/** A message as it arrived. */
export interface ArrivedMessage extends Readable, Mailbox.Sent {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly attachments: ReadonlyArray<{
    readonly filename: string | null
    readonly content_type: string
    /** In base64. */
    readonly content: string
  }>
  /** The whole message as it would have been sent, in base64. */
  readonly raw: string
}

/** Messages of an instance, as its events tell of them. */
export class Arrivals {
  readonly #api: ApiRequests
  readonly #feed: Feed
  readonly #mailbox = new Mailbox.Mailbox()

  constructor(api: ApiRequests) {
    this.#api = api
    this.#feed = new Feed(api, this.#mailbox.take)
  }

  async next(criteria: Criteria.Criteria, timeout: number): Promise<ArrivedMessage> {
    const found = await this.#until(() => this.#mailbox.next(criteria), timeout)
    if (found !== undefined) return await this.read(found)
    const missing = `No message${Criteria.describe(criteria)} arrived within ${timeout} ms.`
    throw new Error(`${missing} ${Mailbox.describe(this.#mailbox.all)}`)
  }

  async list(
    find: (mailbox: Mailbox.Mailbox) => ReadonlyArray<Mailbox.Sent>,
    { timeout = 0 }: Waiting,
  ): Promise<ReadonlyArray<Mailbox.Sent>> {
    await this.#feed.catchUp()
    await this.#until(() => find(this.#mailbox)[0], timeout)
    return find(this.#mailbox)
  }

  async read(sent: Mailbox.Sent): Promise<ArrivedMessage> {
    const { attachments, headers, html, raw, text } = (await this.#api.get(
      `/v1/sandbox/messages/${sent.id}`,
    )) as ArrivedMessage
    const { bcc, cc, from, id, subject, to } = sent
    const [delivered, undelivered] = [[...sent.delivered], [...sent.undelivered]]
    return { id, from, to, cc, bcc, subject, delivered, undelivered, html, text, headers, attachments, raw }
  }

  /** Forgets all messages so far, also those whose events were not read yet. */
  async forget(): Promise<void> {
    await this.#feed.catchUp()
    this.#mailbox.clear()
  }

  /** Reads events until there is a value or the time is over. */
  async #until<A>(find: () => A | undefined, timeout: number): Promise<A | undefined> {
    const end = performance.now() + timeout
    for (;;) {
      const found = find()
      const left = end - performance.now()
      if (found !== undefined || left <= 0) return found
      await this.#feed.wait(left)
    }
  }
}
