<?php

// Runs against a service that test/clients/languages.test.ts starts, through a proxy that causes faults.

declare(strict_types=1);

use Waybill\Client;

require __DIR__ . '/support.php';

$waybill = new Client();
$key = (string) getenv('WAYBILL_KEY');

run([
    'a send with every kind of field' => function () use ($waybill): void {
        $at = new DateTimeImmutable('+1 hour', new DateTimeZone('Europe/Vienna'));
        $answer = $waybill->emails->send(email('Every field', [
            'to' => ['ana@example.org', 'Bo <bo@example.org>'],
            'cc' => 'cy@example.org',
            'html' => '<p>Grüße</p>',
            'headers' => [],
            'tracking' => ['opens' => false],
            'tags' => ['receipt'],
            'scheduled_at' => $at,
            'attachments' => [['filename' => 'a.txt', 'content' => base64_encode('Hi')]],
        ]));
        equal('queued', $answer['status']);
        $sent = $waybill->emails->get($answer['id']);
        equal(['ana@example.org', 'Bo <bo@example.org>'], $sent['to']);
        equal($at->setTimezone(new DateTimeZone('UTC'))->format('Y-m-d\TH:i:s.v\Z'), $sent['scheduled_at']);
        equal([2], column($sent['content']['attachments'], 'size_bytes'));
        check(str_contains($sent['content']['html'], 'Grüße'));
        $moved = $waybill->emails->reschedule($answer['id'], $at->modify('+1 hour'));
        check($moved['scheduled_at'] > $sent['scheduled_at']);
        equal('canceled', $waybill->emails->cancel($answer['id'])['status']);
        check($waybill->emails->resend($answer['id'])['id'] !== $answer['id']);
        $receipt = json_decode($waybill->emails->receipt($answer['id'], ['recipient', 'subject']), true);
        equal($answer['id'], $receipt['email']['id']);
        check(isset($receipt['events'][0]['hidden']['subject'], $receipt['events'][0]['hidden']['to']));
    },
    'a batch' => function () use ($waybill): void {
        $batch = $waybill->emails->sendBatch([email('One'), email('Two', ['headers' => ['X-Order' => '4711']])]);
        equal(['queued', 'queued'], column($batch['data'], 'status'));
        $mixed = [email('Three'), email('Four', ['to' => 'nobody'])];
        $results = $waybill->emails->sendBatch($mixed, 'permissive')['data'];
        equal('queued', $results[0]['status']);
        equal('invalid_request', $results[1]['error']['code']);
    },
    'an own idempotency key' => function () use ($waybill): void {
        $first = $waybill->emails->send(email('Once'), 'order-4711');
        equal($first, $waybill->emails->send(email('Once'), 'order-4711'));
        $refusal = refused(fn () => $waybill->emails->send(email('Once'), "a\r\nX-Other: b"));
        equal('invalid_request', $refusal->errorCode);
    },
    'a dropped connection sends one mail' => function () use ($waybill): void {
        foreach (['cut', 'torn', 'frayed'] as $fault) {
            $answer = client("$fault/send")->emails->send(email($fault));
            equal([$answer['id']], column($waybill->logs->all(['subject' => $fault]), 'id'));
        }
    },
    '429 is repeated after Retry-After' => function (): void {
        $began = hrtime(true);
        equal('queued', client('busy/send')->emails->send(email('busy'))['status']);
        check(hrtime(true) - $began >= 1_000_000_000);
    },
    '503 and a broken gateway are repeated' => function (): void {
        equal('queued', client('down/send')->emails->send(email('down'))['status']);
        equal('list', client('gateway/list')->domains->list()['object']);
    },
    'what is not repeated' => function (): void {
        $quota = refused(fn () => client('quota/send')->emails->send(email('Quota')));
        equal([429, 'monthly_quota', 86400.0], [$quota->status, $quota->reason, $quota->retryAfter]);
        $last = refused(fn () => client('broken/list', retries: 1)->logs->list());
        equal([502, 'bad_answer'], [$last->status, $last->errorCode]);
        $moved = refused(fn () => client('moved/list')->domains->list());
        equal([307, 'bad_answer'], [$moved->status, $moved->errorCode]);
    },
    'a refusal has all fields' => function () use ($waybill): void {
        $refusal = refused(fn () => $waybill->emails->send(email('Unknown', ['from' => 'hi@unknown.test'])));
        equal([422, 'unprocessable'], [$refusal->status, $refusal->errorCode]);
        equal('domain_not_verified', $refusal->reason);
        check(str_starts_with((string) $refusal->requestId, 'req_'));
        check(str_contains($refusal->getMessage(), 'unknown.test'));
        $refusal = refused(fn () => $waybill->emails->send(email('Bad', ['to' => 'nobody'])));
        equal([400, 'to'], [$refusal->status, $refusal->details[0]['path']]);
        $refusal = refused(fn () => $waybill->logs->get('msg_01k00000000000000000000000'));
        equal([404, 'not_found'], [$refusal->status, $refusal->errorCode]);
    },
    'unreachable and silent services' => function (): void {
        $gone = refused(fn () => (new Client(baseUrl: 'http://127.0.0.1:9', retries: 0))->domains->list());
        equal([0, 'connection_failed'], [$gone->status, $gone->errorCode]);
        $silent = refused(fn () => client('silent/list', retries: 0, timeout: 0.3)->domains->list());
        equal([0, 'connection_failed'], [$silent->status, $silent->errorCode]);
    },
    'the key and the address' => function () use ($key, $waybill): void {
        $mistyped = substr($key, 0, -1) . (str_ends_with($key, '0') ? '1' : '0');
        foreach (['', 'wb_short', $mistyped, "$key\n"] as $each) {
            equal('invalid_key', refused(fn () => new Client($each))->errorCode);
        }
        equal([true, false], [Client::isWellFormedKey($key), Client::isWellFormedKey($mistyped)]);
        equal('invalid_request', refused(fn () => new Client(baseUrl: 'mail.example.org'))->errorCode);
        check(!str_contains(print_r($waybill, true), $key));
        putenv('WAYBILL_KEY');
        equal('invalid_key', refused(fn () => new Client())->errorCode);
        putenv("WAYBILL_API_KEY=$key");
        equal('list', (new Client())->domains->list()['object']);
        putenv("WAYBILL_KEY=$key");
    },
    'the log over several pages' => function () use ($waybill): void {
        $emails = array_map(fn (int $nth) => email("Page $nth", ['tags' => ['paged', "nth-$nth"]]), range(0, 4));
        $sent = column($waybill->emails->sendBatch($emails)['data'], 'id');
        $query = ['tag' => ['paged'], 'limit' => 2];
        $newestFirst = column($waybill->logs->all($query), 'id');
        equal(5, count(array_intersect($newestFirst, $sent)));
        $forward = column($waybill->logs->all([...$query, 'before' => $newestFirst[4]]), 'id');
        equal(array_slice(array_reverse($newestFirst), 1), $forward);
        $since = new DateTimeImmutable('2020-01-01T00:00:00Z');
        $page = $waybill->logs->list([...$query, 'status' => ['queued', 'delivered'], 'created_after' => $since]);
        equal([2, true], [count($page['data']), $page['has_more']]);
        equal(1, count($waybill->logs->list(['tag' => ['paged', 'nth-3']])['data']));
        equal($sent[0], $waybill->logs->get($sent[0], new DateTimeImmutable())['id']);
        equal('email.queued', $waybill->logs->events($sent[0])['data'][0]['type']);
    },
    'events after a position' => function () use ($waybill): void {
        $first = $waybill->emails->send(email('First event'))['id'];
        $position = $waybill->logs->events($first)['data'][0]['position'];
        $second = $waybill->emails->send(email('Second event'))['id'];
        equal([$second], column($waybill->events->all($position, ['email.queued']), 'stream_id'));
        check(in_array($first, column($waybill->events->all(), 'stream_id'), true));
        equal(1, count($waybill->events->list(['after_position' => $position, 'limit' => 1])['data']));
    },
    'reads send the position of the last write' => function (): void {
        $waybill = client('replica/one');
        $waybill->domains->list();
        $waybill->emails->send(email('Replica'));
        $waybill->domains->list();
    },
    'other endpoints' => function () use ($waybill): void {
        equal('account', $waybill->request('GET /v1/account')['object']);
    },
    'domains' => function () use ($waybill): void {
        $domain = $waybill->domains->add('news.test');
        equal('news.test', $domain['name']);
        check(in_array('news.test', column($waybill->domains->list()['data'], 'name'), true));
        equal('verified', $waybill->domains->verify('news.test')['status']);
        check($waybill->domains->update('news.test', ['open_tracking' => true])['open_tracking']);
        check($waybill->domains->update('news.test', [])['open_tracking']);
        check($waybill->domains->rotateDkim('news.test')['records'] !== $domain['records']);
        equal($domain['id'], $waybill->domains->get($domain['id'])['id']);
        check($waybill->domains->remove('news.test')['deleted']);
        equal(404, refused(fn () => $waybill->domains->get('news.test'))->status);
    },
    'suppressions' => function () use ($waybill): void {
        $address = 'no/reply+bo@example.org';
        $added = $waybill->suppressions->add(['email' => $address, 'reason' => 'complaint']);
        equal([$address, 'complaint'], [$added['email'], $added['reason']]);
        equal($added['id'], $waybill->suppressions->get($address)['id']);
        $three = array_map(fn (int $nth) => ['email' => "s$nth@example.org"], range(1, 3));
        equal(3, $waybill->suppressions->batch(['add' => $three])['added']);
        equal(4, count(column($waybill->suppressions->all(['limit' => 2]), 'email')));
        equal([$address], column($waybill->suppressions->list(['q' => 'bo@'])['data'], 'email'));
        check($waybill->suppressions->remove($address)['deleted']);
        equal(404, refused(fn () => $waybill->suppressions->get($address))->status);
    },
    ...require __DIR__ . '/receiving.php',
    ...require __DIR__ . '/templates.php',
    ...require __DIR__ . '/webhooks.php',
]);
