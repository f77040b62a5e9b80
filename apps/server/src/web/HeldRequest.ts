import { Effect, Inspectable, type Option, Stream } from "effect"
import { HttpIncomingMessage, HttpServerError, HttpServerRequest, UrlParams } from "effect/http"
import type { Headers } from "effect/http"

/** The method, address and headers of a request. */
interface Head {
  readonly method: string
  readonly url: string
  readonly headers: Headers.Headers
  readonly remoteAddress: Option.Option<string>
}

const decoder = new TextDecoder()

/**
 * A request whose body is in memory: it arrived as a whole, or a door made it. Its readers get the bytes at once, without a
 * stream, and without a copy that the collector would have to sweep.
 */
export class HeldRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId] = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId] = HttpIncomingMessage.TypeId
  readonly method: string
  readonly url: string
  readonly headers: Headers.Headers
  readonly remoteAddress: Option.Option<string>
  readonly bytes: Buffer
  readonly #outer: HttpServerRequest.HttpServerRequest | undefined
  #text: string | undefined

  /** `outer` is the request whose body arrived, `undefined` for one that a door made. */
  constructor(head: Head, bytes: Buffer, outer?: HttpServerRequest.HttpServerRequest) {
    super()
    this.method = head.method
    this.url = head.url
    this.headers = head.headers
    this.remoteAddress = head.remoteAddress
    this.bytes = bytes
    this.#outer = outer
  }

  get source(): object {
    return this.#outer?.source ?? {}
  }
  /** Read by `NodeHttpServerRequest.toServerResponse`. */
  get response(): unknown {
    return (this.#outer as { readonly response?: unknown } | undefined)?.response
  }
  get originalUrl(): string {
    return this.#outer?.originalUrl ?? this.url
  }
  get cookies() {
    return this.#outer?.cookies ?? {}
  }
  get peerAddress(): Option.Option<string> {
    return this.#outer?.peerAddress ?? this.remoteAddress
  }
  get protocol(): "http" | "https" | undefined {
    return this.#outer?.protocol
  }

  /** The body as text, without a byte order mark. */
  get body(): string {
    return (this.#text ??= decoder.decode(this.bytes))
  }
  get text(): Effect.Effect<string> {
    return Effect.succeed(this.body)
  }
  get arrayBuffer(): Effect.Effect<ArrayBuffer> {
    return Effect.sync(() => new Uint8Array(this.bytes).buffer)
  }
  get stream(): Stream.Stream<Uint8Array> {
    return Stream.succeed(this.bytes)
  }
  get json() {
    return Effect.flatMap(this.text, (text) =>
      Effect.try({ try: () => JSON.parse(text), catch: (cause) => this.#unreadable(cause) }),
    )
  }
  get urlParamsBody() {
    return Effect.map(this.text, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }
  get multipart() {
    return Effect.die("no endpoint takes forms of several parts")
  }
  get multipartStream() {
    return Stream.die("no endpoint takes forms of several parts")
  }
  get upgrade() {
    return Effect.fail(this.#unreadable(undefined))
  }
  upgradeWith() {
    return this.upgrade
  }

  modify(change: Partial<Head>): HeldRequest {
    return new HeldRequest(
      {
        method: this.method,
        url: change.url ?? this.url,
        headers: change.headers ?? this.headers,
        remoteAddress: change.remoteAddress ?? this.remoteAddress,
      },
      this.bytes,
      this.#outer,
    )
  }

  override toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, { _id: "HttpServerRequest", method: this.method, url: this.url })
  }

  #unreadable(cause: unknown): HttpServerError.HttpServerError {
    return new HttpServerError.HttpServerError({
      reason: new HttpServerError.RequestParseError({ request: this, cause }),
    })
  }
}

/** Bytes of a request's body if it is in memory, as that of every endpoint that takes one. */
export const lengthOf = (request: HttpServerRequest.HttpServerRequest): number =>
  request instanceof HeldRequest ? request.bytes.length : 0
