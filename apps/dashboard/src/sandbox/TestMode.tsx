import { useQueryClient } from "@tanstack/react-query"
import { useNavigate, useRouterState } from "@tanstack/react-router"
import { FlaskConical } from "lucide-react"
import * as Mode from "../api/Mode.ts"
import { Button } from "../ui/controls/Button.tsx"

/** Records of mail belong to one mode; their lists are in both. */
const MAIL_RECORD = /^\/(?<list>emails|requests)\/./u

/** Returns a function that switches the mode and forgets what was loaded in the other one. */
const useSetTest = () => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  return async (isTest: boolean) => {
    const list = MAIL_RECORD.exec(path)?.groups?.["list"]
    // The other mode has no such record, so its screen is left first.
    if (list !== undefined) await navigate({ to: `/${list}`, replace: true })
    Mode.setTest(isTest)
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" })
  }
}

export const TestModeSwitch = () => {
  const isTest = Mode.useIsTest()
  const setTest = useSetTest()
  return (
    <label className="flex h-8 shrink-0 cursor-pointer items-center gap-2.5 rounded-lg px-2 text-sm text-ink-2 hover:bg-hover">
      <FlaskConical size={15} strokeWidth={1.9} aria-hidden />
      <span className="grow">Test mode</span>
      <input type="checkbox" role="switch" checked={isTest} onChange={(event) => void setTest(event.target.checked)} />
    </label>
  )
}

/** Says on every screen that it shows test mail. */
export const TestModeBanner = () => {
  const isTest = Mode.useIsTest()
  const setTest = useSetTest()
  return isTest ? (
    <section
      aria-label="Test mode"
      className="flex flex-wrap items-center justify-center gap-x-3 gap-y-1 bg-warn-soft px-4 py-1.5 text-sm text-warn"
    >
      <p>
        <strong className="font-semibold">Test mode.</strong> You see mail of test keys, which never leaves this
        service.
      </p>
      <Button small onClick={() => void setTest(false)}>
        Show live mail
      </Button>
    </section>
  ) : undefined
}
