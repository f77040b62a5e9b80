import { Link, useNavigate, useRouterState } from "@tanstack/react-router"
import { useQuery } from "@tanstack/react-query"
import { BookOpen, ChevronsUpDown, Keyboard, LogOut, Monitor, Moon, Search, Sun, UserRound } from "lucide-react"
import { type ReactNode, useEffect, useRef } from "react"
import * as Mode from "../api/Mode.ts"
import * as Queries from "../api/Queries.ts"
import { permits } from "@waybill/domain/account/permits"
import { Menu } from "../ui/controls/Menu.tsx"
import { cx } from "../ui/display/cx.ts"
import { Kbd } from "../ui/display/Kbd.tsx"
import { Logo } from "../ui/display/Logo.tsx"
import * as Keys from "../ui/controls/Keyboard.ts"
import * as Navigation from "./Navigation.ts"
import { SandboxMark } from "./SandboxMark.tsx"
import { TestModeSwitch } from "../sandbox/TestMode.tsx"
import { setTheme, useTheme } from "../session/Theme.ts"
import { useSession } from "../session/useSession.ts"
import { useSignOut } from "../session/useSignOut.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

const THEMES = [
  ["system", "System", Monitor],
  ["light", "Light", Sun],
  ["dark", "Dark", Moon],
] as const

interface Props {
  readonly onNavigate?: () => void
  readonly onPalette: () => void
  readonly onHelp: () => void
}

export const Sidebar = ({ onHelp, onNavigate, onPalette }: Props) => {
  const { session } = useSession()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // The mode decides which screens there are.
  Mode.useIsTest()
  const list = useRef<HTMLDivElement>(null)
  // The list of a low window scrolls, and the screen that is shown may be below its edge.
  useEffect(() => {
    // Browsers return a promise here, which React would take for a clean-up.
    void list.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" })
  }, [path])
  return (
    <nav aria-label="Main" className="flex h-full flex-col px-3 py-3">
      <div className="flex h-9 shrink-0 items-center gap-2.5 px-2">
        <Logo />
        <span className="text-[15px] font-semibold tracking-tight">Waybill</span>
        <span className="grow" />
        <SandboxMark />
      </div>
      <button
        type="button"
        onClick={onPalette}
        className="my-2 flex h-8 shrink-0 items-center gap-2 rounded-lg border border-line bg-panel px-2 text-sm text-ink-3 hover:border-line-strong"
      >
        <Search size={14} aria-hidden />
        <span className="grow text-left">Search</span>
        <Kbd isHint>{Keys.command("K")}</Kbd>
      </button>
      <div ref={list} className="-mx-3 mb-1 min-h-0 grow overflow-y-auto border-b border-line px-3 pb-2">
        {Navigation.SECTIONS.map(({ screens, title }) => {
          const visible = screens.filter((screen) => Navigation.isVisible(screen, session))
          return visible.length === 0 ? undefined : (
            <Section
              key={title}
              title={title}
              isFolded={title === Navigation.FOLDED && !visible.some(({ to }) => path.startsWith(to))}
            >
              <ul className="flex flex-col gap-px">
                {visible.map(({ icon: Icon, name, to }) => (
                  <li key={to}>
                    <Link
                      to={to}
                      {...(onNavigate === undefined ? {} : { onClick: onNavigate })}
                      className="flex h-[1.625rem] items-center gap-2.5 rounded-lg px-2 text-sm text-ink-2 transition-colors duration-75 hover:bg-hover hover:text-ink"
                      activeProps={{ className: "!bg-hover !text-ink font-medium" }}
                    >
                      <Icon size={15} strokeWidth={1.9} aria-hidden />
                      {name}
                    </Link>
                  </li>
                ))}
              </ul>
            </Section>
          )
        })}
      </div>
      {permits(session.scopes, "email:logs:read") ? <TestModeSwitch /> : undefined}
      <UserMenu onHelp={onHelp} />
    </nav>
  )
}

interface SectionProps {
  readonly title: string
  /** Whether the screens are shown only when they are asked for. */
  readonly isFolded: boolean
  readonly children: ReactNode
}

const Section = ({ children, isFolded, title }: SectionProps) => {
  const name = "px-2 py-1 text-xs font-medium text-ink-3"
  return title === Navigation.FOLDED ? (
    <details className="mb-1" open={!isFolded}>
      <summary
        className={cx(
          name,
          "flex cursor-pointer flex-row-reverse items-center justify-between rounded-lg hover:text-ink",
        )}
      >
        {title}
      </summary>
      {children}
    </details>
  ) : (
    <div className="mb-1">
      <h2 className={name}>{title}</h2>
      {children}
    </div>
  )
}

const UserMenu = ({ onHelp }: { readonly onHelp: () => void }) => {
  const { session, user } = useSession()
  const { data: account } = useQuery(Queries.account)
  const navigate = useNavigate()
  const theme = useTheme()
  const signOut = useSignOut()
  return (
    <Menu
      align="start"
      header={
        <div role="group" aria-label="Theme" className="mb-1 flex gap-1 border-b border-line p-1 pb-2">
          {THEMES.map(([name, label, Icon]) => (
            <button
              key={name}
              type="button"
              aria-pressed={theme === name}
              onClick={() => setTheme(name)}
              className="flex grow items-center justify-center gap-1.5 rounded-md px-2 py-1 text-xs text-ink-2 hover:bg-hover aria-pressed:bg-hover aria-pressed:text-ink"
            >
              <Icon size={13} aria-hidden />
              {label}
            </button>
          ))}
        </div>
      }
      items={[
        {
          name: "Profile",
          icon: <UserRound size={15} />,
          onSelect: () => void navigate({ to: "/settings/sign-in" }),
        },
        {
          name: "Documentation",
          icon: <BookOpen size={15} />,
          onSelect: () => window.open("/docs", "_blank", "noopener"),
        },
        { name: "Keyboard shortcuts", icon: <Keyboard size={15} />, onSelect: onHelp },
        "separator",
        { name: "Sign out", icon: <LogOut size={15} />, onSelect: () => void signOut() },
      ]}
      trigger={
        <button type="button" className="flex shrink-0 items-center gap-2.5 rounded-lg p-2 text-left hover:bg-hover">
          <span
            aria-hidden
            className="flex size-7 shrink-0 items-center justify-center rounded-full bg-neutral-soft text-xs font-semibold text-neutral uppercase"
          >
            {(user.name === "" ? user.email : user.name).slice(0, 1)}
          </span>
          <span className="min-w-0 grow leading-tight">
            <span className="block truncate text-sm font-medium">
              <UntrustedText text={user.name === "" ? user.email : user.name} />
            </span>
            <span className="block truncate text-xs text-ink-3">
              <span className="capitalize">{session.role}</span>
              {account === undefined ? undefined : (
                <>
                  {" · "}
                  <UntrustedText text={account.name} />
                </>
              )}
            </span>
          </span>
          <ChevronsUpDown size={14} className="shrink-0 text-ink-3" aria-hidden />
        </button>
      }
    />
  )
}
