<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Reads conversations.
 *
 * @phpstan-import-type Thread from Types
 */
final class Threads
{
    public function __construct(private readonly Sender $sender)
    {
    }

    /**
     * Returns the sent and received mail of a conversation, in order.
     *
     * @return Thread
     */
    public function get(string $id): array
    {
        return $this->sender->call('GET /v1/threads/{id}', [$id]);
    }
}
