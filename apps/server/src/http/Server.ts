import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Api } from "@waybill/api/Api"
import type { Networks } from "@waybill/mail/dns/Network"
import * as TrackingToken from "@waybill/mail/tokens/TrackingToken"
import { Cursors } from "@waybill/store/feed/Cursors"
import { RequestLogWriter } from "@waybill/store/requests/RequestLogWriter"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer, type HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AccountHandlers } from "./api/AccountHandlers.ts"
import { ApiKeyHandlers } from "./api/ApiKeyHandlers.ts"
import { AuditHandlers } from "./api/history/AuditHandlers.ts"
import * as Authorization from "../web/Authorization.ts"
import * as LargeResponses from "./middleware/LargeResponses.ts"
import * as Bodies from "../web/Bodies.ts"
import { ByteBudget, type BudgetLimits } from "../web/ByteBudget.ts"
import * as DocumentWindows from "./pages/DocumentWindows.ts"
import { EventFeed } from "../live/EventFeed.ts"
import { Revocations } from "../live/Revocations.ts"
import * as AttachmentDownloads from "./pages/AttachmentDownloads.ts"
import type { CompatHosts } from "../settings/CompatHosts.ts"
import * as DocsPage from "./pages/DocsPage.ts"
import * as Connections from "../requests/Connections.ts"
import { DomainHandlers } from "./api/DomainHandlers.ts"
import { handleRequest } from "./middleware/handleRequest.ts"
import * as RequestTarget from "../requests/RequestTarget.ts"
import { EmailHandlers } from "./api/emails/EmailHandlers.ts"
import { EventHandlers } from "./api/history/EventHandlers.ts"
import { InboundHandlers } from "./api/inbound/InboundHandlers.ts"
import { InboundRouteHandlers } from "./api/inbound/InboundRouteHandlers.ts"
import { TemplateHandlers } from "./api/templates/TemplateHandlers.ts"
import { LogHandlers } from "./api/LogHandlers.ts"
import { MemberHandlers } from "./api/MemberHandlers.ts"
import * as NodeServer from "./NodeServer.ts"
import { RequestHandlers } from "./api/history/RequestHandlers.ts"
import { SandboxHandlers } from "./api/SandboxHandlers.ts"
import { StatsHandlers } from "./api/StatsHandlers.ts"
import { SuppressionHandlers } from "./api/SuppressionHandlers.ts"
import { SystemHandlers } from "./api/SystemHandlers.ts"
import { TestClockHandlers } from "./api/TestClockHandlers.ts"
import * as Validation from "../web/Validation.ts"
import { WebhookHandlers } from "./api/WebhookHandlers.ts"

/** Maximum length of a path parameter. The longest is the token of a tracked link. */
export const MAX_PARAM_CHARS = TrackingToken.MAX_TOKEN_CHARS
/** Time that requests in progress have to finish when the service stops. */
export const GRACE = "25 seconds"

export interface Options<R = never> {
  readonly host: string
  /** 0 lets the system choose a port. */
  readonly port: number
  readonly maxBodyBytes: number
  readonly trustedProxies: Networks
  readonly doorHosts?: CompatHosts
  readonly timeouts?: NodeServer.Timeouts
  readonly connections?: Omit<Connections.Caps, "trustedProxies">
  /** Limits of the memory for request bodies and unread responses; tests pass smaller ones. */
  readonly budgets?: { readonly bodies: BudgetLimits; readonly answers: BudgetLimits }
  readonly documents?: DocumentWindows.Limits
  /** Further routes, such as the dashboard's, and predicates of their paths. */
  readonly also?: {
    readonly routes: Layer.Layer<never, never, HttpRouter.HttpRouter | R>
    readonly open: (path: string) => boolean
    readonly visit?: (path: string) => boolean
    readonly document?: (path: string, request: HttpServerRequest.HttpServerRequest) => boolean
  }
}

const groups = Layer.mergeAll(
  EmailHandlers,
  LogHandlers,
  DomainHandlers,
  ApiKeyHandlers,
  WebhookHandlers,
  SuppressionHandlers,
  AccountHandlers,
  MemberHandlers,
  StatsHandlers,
  EventHandlers,
  AuditHandlers,
  RequestHandlers,
  SandboxHandlers,
  TestClockHandlers,
  InboundHandlers,
  InboundRouteHandlers,
  TemplateHandlers,
  SystemHandlers,
)

const api = (maxBodyBytes: number) =>
  HttpApiBuilder.layer(Api).pipe(
    Layer.provide(groups),
    Layer.provide([Authorization.layer, Validation.layer(maxBodyBytes)]),
    Layer.provide(NodeHttpServer.layerHttpServices),
  )

/** Accepts one spelling of a path only, because another would be a route with a rate window of its own. */
const router = Layer.succeed(HttpRouter.RouterConfig, {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: MAX_PARAM_CHARS,
})

const serve = <R = never>(options: Options<R>, node: NodeServer.NodeServer) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* HttpServer.HttpServer
      const feed = yield* EventFeed
      const routes = Layer.mergeAll(
        api(options.maxBodyBytes),
        DocsPage.layer,
        AttachmentDownloads.layer,
        options.also?.routes ?? Layer.empty,
      )
      const app = yield* HttpRouter.toHttpEffect(routes)
      const open = (path: string) => RequestTarget.PROBES.has(path) || options.also?.open(path) === true
      const visit = options.also?.visit ?? (() => false)
      const document = (path: string, request: HttpServerRequest.HttpServerRequest) =>
        DocsPage.isDocument(path) || options.also?.document?.(path, request) === true
      const { answers, bodies } = options.budgets ?? { bodies: Bodies.LIMITS, answers: LargeResponses.LIMITS }
      const budgets = { bodies: new ByteBudget(bodies), answers: new ByteBudget(answers) }
      const requestLog = yield* RequestLogWriter
      const { maxBodyBytes, trustedProxies } = options
      const windows = DocumentWindows.make(options.documents)
      const doorHosts = options.doorHosts ?? new Map()
      const limits = { windows, budgets, maxBodyBytes, requestLog, doorHosts }
      yield* server.serve(handleRequest(app, { trustedProxies, open, visit, document, ...limits }))
      // The feed ends before the server stops, which waits for all responses.
      yield* Effect.addFinalizer(() => feed.close)
      // Without an upgrade listener Node handles upgrade requests like any other, within the same time limits.
      node.removeAllListeners("upgrade")
    }),
  ).pipe(Layer.provide([router, Cursors.layer, EventFeed.layer, Revocations.layer]))

/** The HTTP server with all routes. Provides the server, so that a caller can read the chosen port. */
export const HttpLive = <R = never>(options: Options<R>) => {
  const { connections, host, port, timeouts = NodeServer.TIMEOUTS, trustedProxies } = options
  return Layer.unwrap(
    Effect.map(Effect.context<never>(), (context) => {
      const node = NodeServer.make(context, timeouts, { ...Connections.CAPS, ...connections, trustedProxies })
      const server = NodeHttpServer.layerServer(() => node, { host, port, gracefulShutdownTimeout: GRACE })
      return serve(options, node).pipe(Layer.provideMerge(server))
    }),
  )
}
