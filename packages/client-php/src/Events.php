<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Reads the history of the account.
 *
 * @phpstan-import-type Event from Types
 * @phpstan-import-type EventFeed from Types
 * @phpstan-import-type EventsQuery from Types
 */
final class Events
{
    private const LARGEST_PAGE = 1_000;

    public function __construct(private readonly Sender $sender)
    {
    }

    /**
     * Returns events in order. Continue with `next_position`; `wait` waits for new ones.
     *
     * @param EventsQuery $query
     * @return EventFeed
     */
    public function list(array $query = []): array
    {
        return $this->sender->call('GET /v1/events', query: $query);
    }

    /**
     * Iterates over all existing events after a position; "0" is the beginning.
     *
     * @param list<string>|null $types
     * @return \Generator<int, Event, void, void>
     */
    public function all(string $afterPosition = '0', ?array $types = null): \Generator
    {
        $query = ['limit' => self::LARGEST_PAGE, 'after_position' => $afterPosition];
        if ($types !== null) {
            $query['types'] = $types;
        }
        do {
            $page = $this->list($query);
            foreach ($page['data'] as $event) {
                yield $event;
            }
            $query['after_position'] = $page['next_position'];
        } while ($page['has_more']);
    }
}
