import { Schema } from "effect"

export class InboundNotFound extends Schema.TaggedError<InboundNotFound>()("InboundNotFound", {}) {
  readonly status = 404
  readonly reason = "inbound_not_found"
  override get message() {
    return "There is no received mail with this id in this account."
  }
}

export class ContentExpired extends Schema.TaggedError<ContentExpired>()("InboundContentExpired", {}) {
  readonly status = 404
  readonly reason = "content_expired"
  override get message() {
    return "The content of this mail is no longer kept; its record stays."
  }
}

export class AttachmentNotFound extends Schema.TaggedError<AttachmentNotFound>()("InboundAttachmentNotFound", {}) {
  readonly status = 404
  readonly reason = "attachment_not_found"
  override get message() {
    return "This mail has no attachment with this id."
  }
}

export class ThreadNotFound extends Schema.TaggedError<ThreadNotFound>()("ThreadNotFound", {}) {
  readonly status = 404
  readonly reason = "thread_not_found"
  override get message() {
    return "There is no thread with this id in this account."
  }
}

export class NoReplyAddress extends Schema.TaggedError<NoReplyAddress>()("InboundNoReplyAddress", {}) {
  readonly status = 422
  readonly reason = "no_reply_address"
  override get message() {
    return "This mail names no address that an answer could be sent to."
  }
}

/** Maximum number of routes per account. Each received mail is compared with all of them. */
export const MAX_ROUTES = 100

export class RouteNotFound extends Schema.TaggedError<RouteNotFound>()("InboundRouteNotFound", {}) {
  readonly status = 404
  readonly reason = "inbound_route_not_found"
  override get message() {
    return "There is no route with this id in this account."
  }
}

export class TooManyRoutes extends Schema.TaggedError<TooManyRoutes>()("TooManyInboundRoutes", {}) {
  readonly status = 422
  readonly reason = "too_many_routes"
  override get message() {
    return `An account has at most ${MAX_ROUTES} routes. Delete one first.`
  }
}

/** Routes forward so many mails within a minute that the next ones wait. */
export class TooManyForwards extends Schema.TaggedError<TooManyForwards>()("TooManyInboundForwards", {
  limit: Schema.Int,
}) {
  readonly status = 429
  readonly reason = "forward_rate"
  readonly retry_after_s = 60
  override get message() {
    return `The routes of this account forward more than ${this.limit} mails a minute.`
  }
}

/** Mail of `POST /v1/test/inbound` in live mode. */
export class MadeUp extends Schema.TaggedError<MadeUp>()("InboundMadeUp", {}) {
  readonly status = 422
  readonly reason = "made_up"
  override get message() {
    return "This mail was made up for a test, so it is not sent on. Use a test key for both."
  }
}

export class ForwardLoop extends Schema.TaggedError<ForwardLoop>()("InboundForwardLoop", {
  address: Schema.String,
}) {
  readonly status = 422
  readonly reason = "forward_loop"
  override get message() {
    return `Mail that is forwarded to ${this.address} would come back, because this installation receives it there.`
  }
}

export class RouteWithoutWebhook extends Schema.TaggedError<RouteWithoutWebhook>()("RouteWithoutWebhook", {}) {
  readonly status = 422
  readonly reason = "webhook_not_found"
  override get message() {
    return "No webhook with this `webhook_id` exists in this account."
  }
}
