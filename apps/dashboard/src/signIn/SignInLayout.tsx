import type { ReactNode } from "react"
import { Logo } from "../ui/display/Logo.tsx"
import { useTitle } from "../ui/layout/useTitle.ts"

interface Props {
  readonly title: string
  readonly hint?: ReactNode
  readonly children: ReactNode
}

/** Layout of the screens before sign-in. */
export const SignInLayout = ({ children, hint, title }: Props) => {
  useTitle(title)
  return (
    <main className="flex min-h-dvh flex-col items-center px-4 pt-[16vh] pb-12">
      <Logo size={36} />
      <h1 className="mt-5 text-xl font-semibold tracking-tight">{title}</h1>
      {hint === undefined ? undefined : <p className="mt-1 max-w-xs text-center text-sm text-ink-2">{hint}</p>}
      <div className="mt-7 w-full max-w-sm">{children}</div>
    </main>
  )
}
