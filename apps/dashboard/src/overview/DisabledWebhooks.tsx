import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { TriangleAlert } from "lucide-react"
import * as Queries from "../api/Queries.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import * as DisabledReason from "../webhooks/DisabledReason.ts"

/** Webhooks that the service has disabled by itself, until somebody enables or deletes them. */
export const DisabledWebhooks = () => {
  const { data } = useQuery({ ...Queries.webhooks, enabled: useHasScope("webhooks:manage") })
  const disabled = (data?.data ?? []).filter(DisabledReason.isByService)
  if (disabled.length === 0) return undefined
  return (
    <section
      aria-label="Disabled webhooks"
      className="rounded-xl border border-line bg-warn-soft px-4 py-3 text-sm text-warn"
    >
      <p className="flex items-center gap-2 font-medium">
        <TriangleAlert size={15} aria-hidden />
        {disabled.length === 1
          ? "A webhook was disabled and receives no events"
          : `${disabled.length} webhooks were disabled and receive no events`}
      </p>
      <ul className="mt-1 flex flex-col gap-0.5">
        {disabled.map((webhook) => (
          <li key={webhook.id} className="flex flex-wrap gap-x-2">
            <Link
              to="/webhooks/$id"
              params={{ id: webhook.id }}
              className="min-w-0 truncate underline underline-offset-2"
            >
              <UntrustedText text={webhook.url} />
            </Link>
            <span>{DisabledReason.words(webhook)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
