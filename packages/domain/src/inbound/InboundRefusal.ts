import * as Refusal from "../values/Refusal.ts"

export class InboundNotFound extends Refusal.of("InboundNotFound", 404, "inbound_not_found") {
  override readonly message = "There is no received mail with this id in this account."
}

export class ContentExpired extends Refusal.of("InboundContentExpired", 404, "content_expired") {
  override readonly message = "The content of this mail is no longer kept; its record stays."
}

export class AttachmentNotFound extends Refusal.of("InboundAttachmentNotFound", 404, "attachment_not_found") {
  override readonly message = "This mail has no attachment with this id."
}

export class ThreadNotFound extends Refusal.of("ThreadNotFound", 404, "thread_not_found") {
  override readonly message = "There is no thread with this id in this account."
}

export class NoReplyAddress extends Refusal.of("InboundNoReplyAddress", 422, "no_reply_address") {
  override readonly message = "This mail names no address that an answer could be sent to."
}

/** Maximum number of routes per account. Each received mail is compared with all of them. */
export const MAX_ROUTES = 100

export class RouteNotFound extends Refusal.of("InboundRouteNotFound", 404, "inbound_route_not_found") {
  override readonly message = "There is no route with this id in this account."
}

export class TooManyRoutes extends Refusal.of("TooManyInboundRoutes", 422, "too_many_routes") {
  override readonly message = `An account has at most ${MAX_ROUTES} routes. Delete one first.`
}

/** Routes forward so many mails within a minute that the next ones wait. */
export class TooManyForwards extends Refusal.of("TooManyInboundForwards", 429, "forward_rate")<{
  readonly limit: number
}> {
  readonly retry_after_s = 60
  override readonly message = `The routes of this account forward more than ${this.limit} mails a minute.`
}

/** Mail of `POST /v1/test/inbound` in live mode. */
export class MadeUp extends Refusal.of("InboundMadeUp", 422, "made_up") {
  override readonly message = "This mail was made up for a test, so it is not sent on. Use a test key for both."
}

export class ForwardLoop extends Refusal.of("InboundForwardLoop", 422, "forward_loop")<{ readonly address: string }> {
  override readonly message = `Mail that is forwarded to ${this.address} would come back, because this installation receives it there.`
}

export class RouteWithoutWebhook extends Refusal.of("RouteWithoutWebhook", 422, "webhook_not_found") {
  override readonly message = "No webhook with this `webhook_id` exists in this account."
}
