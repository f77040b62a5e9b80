import { Check, Minus } from "lucide-react"
import * as Api from "../api/Api.ts"
import type { InboundRoute, RouteTrial, Webhook } from "../api/Records.ts"
import { Button } from "../ui/controls/Button.tsx"
import { TextField, useForm } from "../ui/controls/Field.tsx"
import { cx } from "../ui/display/cx.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { conditionsOf, wordsOf } from "./RouteActions.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

interface Props {
  readonly routes: ReadonlyArray<InboundRoute>
  readonly webhooks: ReadonlyArray<Webhook>
}

/** Says which routes would apply to a mail that is only described, and why. Nothing is recorded. */
export const RouteTest = ({ routes, webhooks }: Props) => {
  const form = useForm({
    initial: { to: "", from: "", subject: "" },
    send: ({ from, subject, to }) =>
      Api.post<RouteTrial>("/inbound/routes/test", { to: to.trim(), from: from.trim(), subject: subject.trim() }),
  })
  const address = { autoCapitalize: "none", spellCheck: false, required: true }
  return (
    <Panel title="Test the routes">
      <form className="flex flex-col gap-3 p-4" noValidate onSubmit={form.onSubmit}>
        <div className="grid gap-3 sm:grid-cols-3">
          <TextField label="To" placeholder="support@acme.com" {...address} {...form.input("to")} />
          <TextField label="From" placeholder="ana@example.org" {...address} {...form.input("from")} />
          <TextField label="Subject" {...form.input("subject")} />
        </div>
        <ErrorMessage error={form.error} />
        <div>
          <Button type="submit" busy={form.isPending}>
            Test
          </Button>
        </div>
      </form>
      <div role="status">
        {form.answer === undefined ? undefined : <Outcome outcome={form.answer} routes={routes} webhooks={webhooks} />}
      </div>
    </Panel>
  )
}

const ENDS: { readonly [S in RouteTrial["status"]]: string } = {
  received: "The mail would be received.",
  dropped: "The mail would be accepted and dropped.",
  rejected: "The mail would be rejected.",
}

const Outcome = ({ outcome, routes, webhooks }: Props & { readonly outcome: RouteTrial }) => (
  <div className="border-t border-line">
    <p className="px-4 py-3 text-sm font-medium">
      {outcome.routes.some(({ applies }) => applies)
        ? ENDS[outcome.status]
        : "No route applies: the mail would be stored, and all webhooks that subscribe to received mail called."}
    </p>
    <ol className="divide-y divide-line border-t border-line">
      {outcome.routes.map(({ applies, id, reason }, index) => {
        const route = routes.find((each) => each.id === id)
        return (
          <li key={id} data-applies={applies} className="flex items-start gap-3 px-4 py-2.5 text-sm">
            {applies ? (
              <Check size={16} className="mt-0.5 shrink-0 text-good" aria-label="Applies" />
            ) : (
              <Minus size={16} className="mt-0.5 shrink-0 text-ink-3" aria-label="Does not apply" />
            )}
            <span className="min-w-0 [overflow-wrap:anywhere]">
              <span className={cx("block", applies ? "font-medium" : "text-ink-2")}>
                {index + 1}.{" "}
                <UntrustedText
                  text={route === undefined ? id : `${conditionsOf(route.match)} → ${wordsOf(route, webhooks)}`}
                />
              </span>
              <UntrustedText className="block text-xs text-ink-3" text={sentenceOf(reason, routes)} />
            </span>
          </li>
        )
      })}
    </ol>
  </div>
)

/** Names a route by its number in the list, as people see it, instead of its id. */
const sentenceOf = (reason: string, routes: ReadonlyArray<InboundRoute>): string => {
  const text = reason.replaceAll(/rte_\w+/gu, (id) => {
    const index = routes.findIndex((route) => route.id === id)
    return index === -1 ? id : String(index + 1)
  })
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
