import { TestInstance } from "./TestInstance.ts"
import * as Service from "./service/Service.ts"

export type { Criteria } from "./Criteria.ts"
export type { ArrivedMessage as Message } from "./Arrivals.ts"
export type { TestInstance } from "./TestInstance.ts"
export type { Hook, HookEvent, HookHandler } from "./service/Hook.ts"
export type { Waiting } from "./Waiting.ts"
export type { Incoming, Received, Reply } from "./Incoming.ts"
export type { Sent } from "./Mailbox.ts"
export type { RenderedTemplate, RenderOptions, TemplateWords } from "./Templates.ts"
export type { ServiceOptions } from "./service/Service.ts"
/** For test runners without an `expect`, such as `node:test`: `await assertMail.delivered(mail, { to })`. */
export * as assertMail from "./Assertions.ts"
export { matchers } from "./matchers.ts"

/** Starts a whole Waybill on this machine, on free ports and with an own database, which ends with this process at the latest. */
const start = async (options: Service.ServiceOptions = {}): Promise<TestInstance> =>
  new TestInstance(await Service.start(options))

export const Waybill = { start }
