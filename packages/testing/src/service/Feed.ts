import type { ApiRequests } from "./Api.ts"

interface Address {
  readonly address: string
}

/** An event of the service. */
export interface MailEvent {
  readonly id: string
  readonly type: string
  readonly stream_id: string
  readonly occurred_at: string
  readonly data: {
    readonly from?: Address
    readonly to?: ReadonlyArray<Address>
    readonly cc?: ReadonlyArray<Address>
    readonly bcc?: ReadonlyArray<Address>
    readonly subject?: string
    readonly recipient?: string
    readonly code?: number | null
    readonly enhanced_code?: string | null
    readonly category?: string | null
    readonly scheduled_at?: string | null
  }
}

interface Page {
  readonly has_more: boolean
  readonly next_position: string
  readonly data: ReadonlyArray<MailEvent>
}

/** Longest wait that the service accepts. */
const MAX_WAIT_SECONDS = 20
const MS_PER_SECOND = 1_000

/** Reads the events of an account in order, each once. The service answers as soon as there is one. */
export class Feed {
  readonly #api: ApiRequests
  readonly #take: (event: MailEvent) => void
  #position: string | undefined
  #reading: Promise<boolean> | undefined

  constructor(api: ApiRequests, take: (event: MailEvent) => void) {
    this.#api = api
    this.#take = take
  }

  /** Reads what there is, without waiting. */
  async catchUp(): Promise<void> {
    await this.#reading
    while (await this.#read(0));
  }

  /** Waits for events, at most so many milliseconds. Several callers share one request. */
  async wait(ms: number): Promise<void> {
    this.#reading ??= this.#read(ms).finally(() => (this.#reading = undefined))
    let timer: NodeJS.Timeout | undefined
    const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
    await Promise.race([this.#reading, over]).finally(() => clearTimeout(timer))
  }

  async #read(ms: number): Promise<boolean> {
    const wait = Math.min(Math.ceil(ms / MS_PER_SECOND), MAX_WAIT_SECONDS)
    const query = new URLSearchParams({
      wait: `${wait}s`,
      ...(this.#position === undefined ? {} : { after_position: this.#position }),
    })
    const page = (await this.#api.get(`/v1/events?${query}`)) as Page
    this.#position = page.next_position
    for (const event of page.data) this.#take(event)
    return page.has_more
  }
}
