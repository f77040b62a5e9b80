import { Link, useRouter } from "@tanstack/react-router"
import { Compass } from "lucide-react"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"

export const Failed = ({ error, reset }: { readonly error: unknown; readonly reset: () => void }) => {
  const router = useRouter()
  const again = () => {
    reset()
    void router.invalidate()
  }
  return (
    <div className="mx-auto max-w-xl p-8">
      <ErrorNote error={error} onRetry={again} />
    </div>
  )
}

export const Missing = () => (
  <Empty
    icon={<Compass size={20} />}
    title="There is nothing at this address"
    action={
      <Link to="/" className="text-sm font-medium text-accent hover:underline">
        Back to the overview
      </Link>
    }
  >
    It may have been mistyped, or what stood here is gone.
  </Empty>
)
