import { Link, useRouter } from "@tanstack/react-router"
import { Compass } from "lucide-react"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"

export const ErrorScreen = ({ error, reset }: { readonly error: unknown; readonly reset: () => void }) => {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  return (
    <div className="mx-auto max-w-xl p-8">
      <ErrorMessage error={error} onRetry={retry} />
    </div>
  )
}

export const NotFoundScreen = () => (
  <EmptyState
    icon={<Compass size={20} />}
    title="Page not found"
    action={
      <Link to="/" className="text-sm font-medium text-accent hover:underline">
        Go to the overview
      </Link>
    }
  >
    Check the address. The page may have been removed.
  </EmptyState>
)
