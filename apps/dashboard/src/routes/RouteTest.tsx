import { useMutation } from "@tanstack/react-query"
import { Check, Minus } from "lucide-react"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import type { InboundRoute, RouteTrial, Webhook } from "../api/Records.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { Button } from "../ui/controls/Button.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { cx } from "../ui/display/cx.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { conditionsOf, wordsOf } from "./RouteActions.tsx"

interface Props {
  readonly routes: ReadonlyArray<InboundRoute>
  readonly webhooks: ReadonlyArray<Webhook>
}

/** Says which routes would apply to a mail that is only described, and why. Nothing is recorded. */
export const RouteTest = ({ routes, webhooks }: Props) => {
  const [to, setTo] = useState("")
  const [from, setFrom] = useState("")
  const [subject, setSubject] = useState("")
  const trial = useMutation({
    mutationFn: () =>
      Api.post<RouteTrial>("/inbound/routes/test", { to: to.trim(), from: from.trim(), subject: subject.trim() }),
  })
  const errors = useFormErrors(trial.error, { to, from, subject })
  return (
    <Panel title="Test the routes">
      <form
        className="flex flex-col gap-3 p-4"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          trial.mutate()
        }}
      >
        <div className="grid gap-3 sm:grid-cols-3">
          <TextField
            label="To"
            placeholder="support@acme.com"
            autoCapitalize="none"
            spellCheck={false}
            required
            value={to}
            onChange={(event) => setTo(event.target.value)}
            error={errors.field.to}
          />
          <TextField
            label="From"
            placeholder="ana@example.org"
            autoCapitalize="none"
            spellCheck={false}
            required
            value={from}
            onChange={(event) => setFrom(event.target.value)}
            error={errors.field.from}
          />
          <TextField
            label="Subject"
            value={subject}
            onChange={(event) => setSubject(event.target.value)}
            error={errors.field.subject}
          />
        </div>
        {errors.form === undefined ? undefined : <ErrorMessage error={errors.form} />}
        <div>
          <Button type="submit" busy={trial.isPending}>
            Test
          </Button>
        </div>
      </form>
      <div role="status">
        {trial.data === undefined ? undefined : <Outcome outcome={trial.data} routes={routes} webhooks={webhooks} />}
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
