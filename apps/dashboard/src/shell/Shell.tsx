import { Dialog } from "@base-ui/react/dialog"
import { Link, Outlet, useNavigate } from "@tanstack/react-router"
import { useQueryClient } from "@tanstack/react-query"
import {
  BookOpen,
  ChevronsUpDown,
  Keyboard,
  LogOut,
  Menu as Bars,
  Monitor,
  Moon,
  Search,
  Sun,
  UserRound,
} from "lucide-react"
import { Suspense, useCallback, useState } from "react"
import * as auth from "../api/Auth.ts"
import { instance } from "../api/instance.ts"
import { IconButton } from "../ui/controls/Button.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { Kbd, SkeletonRows } from "../ui/layout/Screen.tsx"
import { Help } from "./KeyboardHelp.tsx"
import { Mark } from "./Logo.tsx"
import { Palette } from "./CommandPalette.tsx"
import { isFor, PLACES } from "./Navigation.ts"
import { useShortcuts } from "./useShortcuts.ts"
import { choose, useTheme } from "./Theme.ts"
import { useSession } from "./useSession.ts"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const THEMES = [
  ["system", "System", Monitor],
  ["light", "Light", Sun],
  ["dark", "Dark", Moon],
] as const

const Navigation = ({ onGo, onPalette }: { readonly onGo?: () => void; readonly onPalette: () => void }) => {
  const { may } = useSession()
  return (
    <nav aria-label="Main" className="flex h-full flex-col px-3 py-3">
      <div className="flex h-9 shrink-0 items-center gap-2.5 px-2">
        <Mark />
        <span className="text-[15px] font-semibold tracking-tight">Waybill</span>
        {instance.transport === "capture" ? (
          <span
            title="Mail is kept in the inbox here and leaves nowhere, until TRANSPORT says otherwise."
            className="ml-auto rounded-md border border-line px-1.5 text-[11px] font-medium text-ink-3"
          >
            Sandbox
          </span>
        ) : undefined}
      </div>
      <button
        type="button"
        onClick={onPalette}
        className="my-2.5 flex h-8 shrink-0 items-center gap-2 rounded-lg border border-line bg-panel px-2 text-sm text-ink-3 hover:border-line-strong"
      >
        <Search size={14} aria-hidden />
        <span className="grow text-left">Find</span>
        <Kbd>⌘K</Kbd>
      </button>
      <div className="-mx-3 min-h-0 grow overflow-y-auto px-3 pb-2">
        {PLACES.map(({ places, title }) => {
          const seen = places.filter((place) => isFor(place, may))
          return seen.length === 0 ? undefined : (
            <div key={title} className="mb-2.5">
              <h2 className="px-2 py-1 text-xs font-medium text-ink-3">{title}</h2>
              <ul className="flex flex-col gap-px">
                {seen.map(({ icon: Icon, name, to }) => (
                  <li key={to}>
                    <Link
                      to={to}
                      {...(onGo === undefined ? {} : { onClick: onGo })}
                      className="flex h-[1.875rem] items-center gap-2.5 rounded-lg px-2 text-sm text-ink-2 transition-colors duration-75 hover:bg-hover hover:text-ink"
                      activeProps={{ className: "!bg-hover !text-ink font-medium" }}
                    >
                      <Icon size={15} strokeWidth={1.9} aria-hidden />
                      {name}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          )
        })}
      </div>
      <Person />
    </nav>
  )
}

const Person = () => {
  const { may, user } = useSession()
  const client = useQueryClient()
  const navigate = useNavigate()
  const theme = useTheme()
  const leave = async () => {
    await auth.signOut()
    client.clear()
    await navigate({ to: "/sign-in" })
  }
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
              onClick={() => choose(name)}
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
          name: "Your sign-in",
          icon: <UserRound size={15} />,
          onSelect: () => void navigate({ to: "/settings/sign-in" }),
        },
        {
          name: "API reference",
          icon: <BookOpen size={15} />,
          onSelect: () => window.open("/docs", "_blank", "noopener"),
        },
        "line",
        { name: "Sign out", icon: <LogOut size={15} />, onSelect: () => void leave() },
      ]}
      trigger={
        <button type="button" className="flex shrink-0 items-center gap-2.5 rounded-lg p-2 text-left hover:bg-hover">
          <span
            aria-hidden
            className="flex size-7 shrink-0 items-center justify-center rounded-full bg-calm-soft text-xs font-semibold text-calm uppercase"
          >
            {(user.name === "" ? user.email : user.name).slice(0, 1)}
          </span>
          <span className="min-w-0 grow leading-tight">
            <span className="block truncate text-sm font-medium">
              <Foreign text={user.name === "" ? user.email : user.name} />
            </span>
            <span className="block truncate text-xs text-ink-3 capitalize">{may.role}</span>
          </span>
          <ChevronsUpDown size={14} className="shrink-0 text-ink-3" aria-hidden />
        </button>
      }
    />
  )
}

export const Shell = () => {
  const [palette, setPalette] = useState(false)
  const [help, setHelp] = useState(false)
  const [drawer, setDrawer] = useState(false)
  const openPalette = useCallback(() => setPalette(true), [])
  const openHelp = useCallback(() => setHelp(true), [])
  useShortcuts({ onPalette: openPalette, onHelp: openHelp })
  return (
    <div className="flex min-h-dvh">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-solid focus:px-3 focus:py-2 focus:text-solid-ink"
      >
        Skip to the content
      </a>
      <aside className="sticky top-0 hidden h-dvh w-58 shrink-0 border-r border-line bg-ground lg:block">
        <Navigation onPalette={openPalette} />
      </aside>
      <div className="flex min-w-0 grow flex-col">
        <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-ground px-3 lg:hidden">
          <Dialog.Root open={drawer} onOpenChange={setDrawer}>
            <Dialog.Trigger render={<IconButton label="Open the navigation" />}>
              <Bars size={18} />
            </Dialog.Trigger>
            <Dialog.Portal>
              <Dialog.Backdrop className="veil fixed inset-0 z-40 bg-black/30" />
              <Dialog.Popup
                aria-label="Navigation"
                className="fixed inset-y-0 left-0 z-50 w-64 border-r border-line bg-ground shadow-float outline-none"
              >
                <Navigation
                  onGo={() => setDrawer(false)}
                  onPalette={() => {
                    setDrawer(false)
                    setPalette(true)
                  }}
                />
              </Dialog.Popup>
            </Dialog.Portal>
          </Dialog.Root>
          <Mark />
          <span className="grow text-[15px] font-semibold tracking-tight">Waybill</span>
          <IconButton label="Find" onClick={openPalette}>
            <Search size={17} />
          </IconButton>
        </header>
        <main id="main" tabIndex={-1} className="min-w-0 grow outline-none">
          <Suspense
            fallback={
              <div className="mx-auto max-w-5xl p-8">
                <SkeletonRows />
              </div>
            }
          >
            <Outlet />
          </Suspense>
        </main>
      </div>
      <button
        type="button"
        onClick={openHelp}
        aria-label="Keys"
        title="Keys (?)"
        className="fixed right-3 bottom-3 z-20 hidden size-8 items-center justify-center rounded-full text-ink-3 hover:bg-hover hover:text-ink lg:flex"
      >
        <Keyboard size={15} />
      </button>
      <Palette open={palette} onOpenChange={setPalette} />
      <Help open={help} onOpenChange={setHelp} />
    </div>
  )
}
