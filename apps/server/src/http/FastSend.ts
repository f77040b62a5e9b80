import * as Scope from "@waybill/domain/account/Scope"
import type { Networks } from "@waybill/mail/dns/Network"
import type { Admission, Request, Verdict } from "@waybill/store/admission/Admission"
import type { AdmittedKey } from "@waybill/store/admission/AdmittedKey"
import type { EventStore } from "@waybill/store/commit/EventStore"
import { Provenance } from "@waybill/store/log/Provenance"
import type { ReplicaShape } from "@waybill/store/feed/Replica"
import type { Writer } from "@waybill/store/requests/RequestLogWriter"
import { Effect, Exit } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Acceptance from "../accept/Acceptance.ts"
import * as RequestCommit from "../accept/RequestCommit.ts"
import * as Warnings from "../accept/Warnings.ts"
import * as NewIds from "../process/NewIds.ts"
import * as Calls from "../requestLog/Calls.ts"
import { earlierAdmissions } from "../requests/Admitted.ts"
import * as Authorization from "../web/Authorization.ts"
import { bearerHash } from "./middleware/bearerHash.ts"
import * as ClientAddress from "../requests/ClientAddress.ts"
import * as PlainSends from "./PlainSends.ts"
import * as Position from "./Position.ts"
import * as Responses from "../web/Responses.ts"
import * as SentMessage from "./SentMessage.ts"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"

/** Parts of a server that all its sends share. */
export interface Services {
  readonly admission: Admission["Service"]
  readonly store: EventStore["Service"]
  readonly replica: ReplicaShape
  /** Whether this instance has an address for tracked links. */
  readonly tracks: boolean
  readonly trustedProxies: Networks
  /** Undefined if requests are not logged. */
  readonly requestLog: Writer | undefined
}

/** A request to send, with its answer and what handles it otherwise. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly headers: PlainSends.TextHeaders
  readonly send: PlainSends.Send
  readonly normalPath: () => void
}

/** A plain send under way. */
export class FastSend {
  readonly #services: Services
  readonly #exchange: Exchange
  readonly #began = performance.now()
  readonly #wanted: Request
  #logged: Calls.Call | undefined

  constructor(services: Services, exchange: Exchange) {
    const { headers, request, send } = exchange
    this.#services = services
    this.#exchange = exchange
    const { remoteAddress } = request.socket
    const address = ClientAddress.of(remoteAddress, headers["x-forwarded-for"], services.trustedProxies)
    this.#wanted = { tokenHash: bearerHash(send.authorization(headers)), bucket: "send", address }
  }

  /** Logs the call, if it was handled here. */
  end(): void {
    const { requestLog } = this.#services
    if (requestLog !== undefined && this.#logged !== undefined) Calls.end(requestLog, this.#logged)
  }

  /** Accepts the message, or hands the request to the normal path. */
  handle(id: string): Effect.Effect<void> {
    const { headers, request, send } = this.#exchange
    return Effect.matchCauseEffect(this.#services.admission.admit(this.#wanted), {
      onFailure: (cause) => this.#handOver(Exit.failCause(cause)),
      onSuccess: (verdict) => {
        if (verdict._tag !== "Admitted" || !permits(verdict.key)) return this.#handOver(Exit.succeed(verdict))
        const sent = SentMessage.read(request, headers, send)
        return sent === undefined ? this.#handOver(Exit.succeed(verdict)) : this.#answer(id, verdict, sent)
      },
    })
  }

  #handOver(admitted: Exit.Exit<Verdict, StoreUnavailable>): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#logged = undefined
      earlierAdmissions.set(this.#exchange.request, admitted)
      this.#exchange.normalPath()
    })
  }

  /** Commits the message and answers. */
  #answer(
    id: string,
    { key, standing }: Extract<Verdict, { readonly _tag: "Admitted" }>,
    sent: SentMessage.SentMessage,
  ): Effect.Effect<void> {
    const { headers, request, response } = this.#exchange
    const { replica, requestLog } = this.#services
    if (requestLog !== undefined) {
      const [caller, began, body] = [Calls.callerOf(key), this.#began, sent.bytes]
      const [target, { address }] = [request.url ?? "", this.#wanted]
      this.#logged = { request, response, target, id, caller, address, began, body, reason: null }
    }
    return Effect.map(this.#commit(id, key, sent), ({ body, headers: own, status }) => {
      const position = Position.headersBy(replica, key.account_id, headers[Position.HEADER])
      response.writeHead(status, { ...own, ...Responses.requestHeaders(id, standing), ...position })
      response.end(body)
    })
  }

  #commit(
    id: string,
    key: AdmittedKey,
    { bytes: _, origin, translated, ...call }: SentMessage.SentMessage,
  ): Effect.Effect<PlainSends.Answer> {
    const { store, tracks } = this.#services
    const { account_id, domain, test_clock } = key
    const sender = { account_id, key: { id: key.id, domain, test_clock }, tracks }
    const committing = Effect.clockWith((clock) => {
      const email = NewIds.newEmailAt(clock.currentTimeMillisUnsafe())
      const work = Acceptance.acceptMessage(sender, email.id, call.payload, email.at, Acceptance.queued)
      return RequestCommit.commitTo(
        { store, account_id, domain, origin },
        { endpoint: PlainSends.ENDPOINT, ...call },
        work,
      )
    })
    const provenance = Authorization.provenanceOf({ type: "api_key", id: key.id }, id, this.#wanted.address)
    return Effect.matchCauseEffect(Effect.provideService(committing, Provenance, provenance), {
      onFailure: (cause) =>
        Effect.map(Responses.fromCause(cause, id), (response) => {
          if (this.#logged !== undefined) this.#logged.reason = Calls.reasonOf(response)
          return PlainSends.toAnswer(translated.refused(response))
        }),
      onSuccess: ({ body, headers }) => {
        const warning = Warnings.ofMessage(call.payload)
        return Effect.succeed(translated.accepted(body, "warning" in warning ? { ...headers, ...warning } : headers))
      },
    })
  }
}

const permits = ({ scopes }: AdmittedKey): boolean => Scope.permits(scopes, "email:send")
