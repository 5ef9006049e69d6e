// Records what the strategies of apache/rocketmq-client-go give, one JSON document a line: go run . > ../go_v2.jsonl
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

type place struct {
	Broker string `json:"broker_name"`
	Queues int    `json:"read_queue_nums"`
}

type record struct {
	Strategy     string     `json:"strategy"`
	VirtualNodes int        `json:"virtual_nodes,omitempty"`
	Rooms        []string   `json:"machine_rooms,omitempty"`
	Topic        string     `json:"topic"`
	Places       []place    `json:"places"`
	ClientIds    []string   `json:"client_ids"`
	Owned        [][]string `json:"owned"` // of each of client_ids, in their order: broker_name:queue_id
}

var brokers = []string{"broker-a", "broker-b", "hz@broker-a", "hz@broker-b", "sh@broker-c", "hz@", "@broker-e", "hz@broker-f@"}

func main() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for number := 0; number < 24; number++ {
		topic := fmt.Sprintf("topic-%d", number)
		var places []place
		var queues []*primitive.MessageQueue
		for i, broker := range brokers {
			if count := (number*7 + i*5) % 6; (number+i)%3 != 0 && count > 0 {
				places = append(places, place{broker, count})
				for id := 0; id < count; id++ {
					queues = append(queues, &primitive.MessageQueue{Topic: topic, BrokerName: broker, QueueId: id})
				}
			}
		}
		var ids []string
		for i := 0; i <= (number*3)%8; i++ {
			ids = append(ids, fmt.Sprintf("10.0.%d.%d@%d#%d", number%3, i*7%11, 100+i, number*1000003))
		}
		if number%4 == 3 {
			ids = append(ids, ids[0])
		}
		// As doBalance sorts them.
		sort.Strings(ids)
		sort.SliceStable(queues, func(i, j int) bool {
			if v := strings.Compare(queues[i].BrokerName, queues[j].BrokerName); v != 0 {
				return v < 0
			}
			return queues[i].QueueId < queues[j].QueueId
		})
		nodes, rooms := []int{1, 10, 33}[number%3], []string{"hz", "sh", ""}[:1+number%3]
		for _, one := range []struct {
			record   record
			allocate consumer.AllocateStrategy
		}{
			{record{Strategy: "AVG"}, consumer.AllocateByAveragely},
			{record{Strategy: "AVG_BY_CIRCLE"}, consumer.AllocateByAveragelyCircle},
			{record{Strategy: "CONSISTENT_HASH", VirtualNodes: nodes}, consumer.AllocateByConsistentHash(nodes)},
			{record{Strategy: "MACHINE_ROOM", Rooms: rooms}, consumer.AllocateByMachineRoom(rooms)},
			{record{Strategy: "MACHINE_ROOM_NEARBY-AVG"}, consumer.AllocateByMachineNearby},
		} {
			answer := one.record
			answer.Topic, answer.Places, answer.ClientIds = topic, places, ids
			for _, id := range ids {
				own := []string{}
				for _, queue := range one.allocate("g", id, queues, ids) {
					own = append(own, fmt.Sprintf("%s:%d", queue.BrokerName, queue.QueueId))
				}
				answer.Owned = append(answer.Owned, own)
			}
			if err := out.Encode(answer); err != nil {
				panic(err)
			}
		}
	}
}
