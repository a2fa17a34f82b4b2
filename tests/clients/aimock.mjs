// An upstream that somebody else wrote (@copilotkit/aimock): says its URL on one line, and serves until its input ends.
// What is said to it chooses what goes wrong.
import { LLMock } from '@copilotkit/aimock';

const mock = new LLMock({ port: 0, chunkSize: 4 });
const said = { content: 'Somebody else wrote this, piece by piece.' };
mock.onMessage('drop it', said, { chaos: { dropRate: 1 } });
mock.onMessage('garble it', said, { chaos: { malformedRate: 1 } });
mock.onMessage('hang up', said, { chaos: { disconnectRate: 1 } });
mock.onMessage('slow down', said, { chaos: { rateLimitRate: 1 } });
mock.onMessage('stop short', said, { truncateAfterChunks: 3 });
mock.onMessage('refuse it', { error: { message: 'The model is overloaded.', type: 'overloaded_error' }, status: 529 });
mock.onMessage('call it', { toolCalls: [{ name: 'save', arguments: '{"text":"x"}' }] });
mock.onMessage(/[^]*/, said);
await mock.start();
console.log(mock.url);
process.stdin.resume();
process.stdin.on('end', async () => {
  await mock.stop();
  process.exit(0);
});
